"""Plain texts whose fingerprints are committed: the same small scene told in many languages, and some oddities."""

from __future__ import annotations

#: By ISO 639-1 code. Every text has two paragraphs and enough words for a fingerprint.
TEXTS = {
    "ar": (
        "في الصباح نزل الصياد إلى الميناء، ولم يكن هناك أحد غير القطط التي كانت تنتظر السفن. قال لي إن"
        " البحر لا ينسى أحدا، ثم جلس على الحجر الذي يجلس عليه كل يوم.\n\n"
        "بعد ذلك جاءت الشمس من وراء الجبل، وعرفنا أن الضباب لن يعود في هذا اليوم، لأن الريح كانت من"
        " الشمال."
    ),
    "cs": (
        "Ráno sešel rybář do přístavu a nebyl tam nikdo než kočky, které čekaly na lodě. Řekl mi, že moře"
        " na nikoho nezapomíná, a potom se posadil na kámen, na kterém sedí každý den.\n\n"
        "Potom vyšlo slunce za horou a my jsme věděli, že se mlha už ten den nevrátí, protože vítr byl od"
        " severu."
    ),
    "da": (
        "Om morgenen gik fiskeren ned til havnen, og der var ikke nogen andre end kattene, som ventede på"
        " bådene. Han sagde til mig, at havet aldrig glemmer nogen, og så satte han sig på den sten, hvor"
        " han sidder hver dag.\n\n"
        "Bagefter kom solen frem bag bjerget, og vi vidste, at tågen ikke ville komme igen den dag, fordi"
        " vinden kom fra nord."
    ),
    "de": (
        "Am Morgen ging der Fischer hinunter zum Hafen, und es war niemand dort außer den Katzen, die auf"
        " die Boote warteten. Er sagte mir, dass das Meer niemanden vergisst, und dann setzte er sich auf"
        " den Stein, auf dem er jeden Tag sitzt.\n\n"
        "Danach kam die Sonne hinter dem Berg hervor, und wir wussten, dass der Nebel an diesem Tag nicht"
        " mehr kommen würde, weil der Wind von Norden kam."
    ),
    "el": (
        "Το πρωί ο ψαράς κατέβηκε στο λιμάνι και δεν ήταν κανείς εκεί εκτός από τις γάτες που περίμεναν"
        " τα καΐκια. Μου είπε ότι η θάλασσα δεν ξεχνά κανέναν, και μετά κάθισε στην πέτρα όπου κάθεται"
        " κάθε μέρα.\n\n"
        "Ύστερα βγήκε ο ήλιος πίσω από το βουνό, και ξέραμε ότι η ομίχλη δεν θα ερχόταν πάλι εκείνη τη"
        " μέρα."
    ),
    "en": (
        "In the morning the fisherman went down to the harbour, and there was nobody but the cats that"
        " were waiting for the boats. He told me that the sea does not forget anyone, and then he sat"
        " down on the stone where he sits every day.\n\n"
        "After that the sun came out from behind the hill, and we knew that the fog would not be back on"
        " that day, because the wind was from the north."
    ),
    "es": (
        "Por la mañana el pescador bajó al puerto, y no había nadie más que los gatos que esperaban a los"
        " barcos. Me dijo que el mar no se olvida de nadie, y luego se sentó en la piedra en la que se"
        " sienta todos los días.\n\n"
        "Después salió el sol por detrás del monte, y supimos que la niebla no iba a volver en todo el"
        " día, porque el viento era del norte."
    ),
    "fa": (
        "صبح زود ماهیگیر به بندر رفت و هیچ کس آنجا نبود جز گربه‌ها که منتظر قایق‌ها بودند. به من گفت که"
        " دریا هیچ کس را از یاد نمی‌برد و بعد روی سنگی نشست که هر روز بر آن می‌نشیند.\n\n"
        "پس از آن خورشید از پشت کوه بیرون آمد و ما می‌دانستیم که مه در آن روز دیگر باز نمی‌گردد، چون باد از"
        " شمال بود."
    ),
    "fi": (
        "Aamulla kalastaja meni alas satamaan, eikä siellä ollut ketään muuta kuin kissat, jotka"
        " odottivat veneitä. Hän sanoi minulle, että meri ei unohda ketään, ja sitten hän istui kivelle,"
        " jolla hän istuu joka päivä.\n\n"
        "Sen jälkeen aurinko tuli esiin vuoren takaa, ja me tiesimme, että sumu ei enää tulisi sinä"
        " päivänä, koska tuuli oli pohjoisesta."
    ),
    "fr": (
        "Le matin, le pêcheur descendit au port, et il n’y avait personne que les chats qui attendaient"
        " les bateaux. Il m’a dit que la mer n’oublie personne, et puis il s’est assis sur la pierre où"
        " il s’assied tous les jours.\n\n"
        "Après cela, le soleil est sorti de derrière la colline, et nous avons su que la brume ne"
        " reviendrait pas ce jour-là, parce que le vent était du nord."
    ),
    "he": (
        "בבוקר ירד הדייג אל הנמל, ולא היה שם אף אחד מלבד החתולים שחיכו לסירות. הוא אמר לי כי הים לא שוכח"
        " את אף אחד, ואחר כך הוא ישב על האבן שעליה הוא יושב כל יום.\n\n"
        "אחרי זה יצאה השמש מאחורי ההר, ואנחנו ידענו כי הערפל לא יחזור עוד באותו יום, כי הרוח היתה מן"
        " הצפון."
    ),
    "hi": (
        "सुबह मछुआरा बंदरगाह पर गया और वहाँ बिल्लियों के अलावा कोई नहीं था जो नावों का इंतज़ार कर रही थीं। उसने मुझ से"
        " कहा कि समुद्र किसी को नहीं भूलता और फिर वह उस पत्थर पर बैठ गया जिस पर वह हर दिन बैठता है।\n\n"
        "उसके बाद पहाड़ के पीछे से सूरज निकला और हम को पता था कि उस दिन कोहरा फिर नहीं आएगा क्योंकि हवा उत्तर से थी।"
    ),
    "it": (
        "La mattina il pescatore scese al porto, e non c’era nessuno tranne i gatti che aspettavano le"
        " barche. Mi disse che il mare non si dimentica di nessuno, e poi si sedette sulla pietra su cui"
        " si siede tutti i giorni.\n\n"
        "Dopo di che il sole uscì da dietro la collina, e noi sapevamo che la nebbia non sarebbe più"
        " tornata per quel giorno, perché il vento era da nord."
    ),
    "ja": (
        "朝早く、漁師は港へ下りていったが、そこには船を待っている猫のほかに誰もいなかった。海は誰のことも"
        "忘れない、と彼は私に言い、それから毎日すわっている石の上に腰をおろした。\n\n"
        "やがて山のうしろから日がのぼり、北の風が吹いていたので、その日はもう霧が戻ってこないことが私たち"
        "にはわかった。"
    ),
    "ko": (
        "아침에 어부가 항구로 내려갔는데 배를 기다리는 고양이들 말고는 아무도 없었다. 그는 바다가 누구도"
        " 잊지 않는다고 내게 말하고 나서 날마다 앉는 돌 위에 앉았다.\n\n"
        "그 뒤에 산 너머에서 해가 떠올랐고, 바람이 북쪽에서 불어왔기 때문에 우리는 그날 안개가 다시 오지"
        " 않으리라는 것을 알았다."
    ),
    "nl": (
        "In de ochtend ging de visser naar de haven, en er was niemand behalve de katten die op de boten"
        " wachtten. Hij zei tegen mij dat de zee niemand vergeet, en toen ging hij op de steen zitten"
        " waar hij elke dag zit.\n\n"
        "Daarna kwam de zon achter de heuvel vandaan, en wij wisten dat de mist die dag niet meer terug"
        " zou komen, omdat de wind uit het noorden kwam."
    ),
    "no": (
        "Om morgenen gikk fiskeren ned til havnen, og det var ikke noen andre enn kattene som ventet på"
        " båtene. Han sa til meg at havet aldri glemmer noen, og så satte han seg på den steinen hvor han"
        " sitter hver dag.\n\n"
        "Etterpå kom solen fram bak fjellet, og vi visste at tåken ikke ville komme tilbake den dagen,"
        " fordi vinden kom fra nord."
    ),
    "pl": (
        "Rano rybak zszedł do portu i nie było tam nikogo oprócz kotów, które czekały na łodzie."
        " Powiedział mi, że morze o nikim nie zapomina, a potem usiadł na kamieniu, na którym siedzi"
        " każdego dnia.\n\n"
        "Potem wyszło słońce zza góry i wiedzieliśmy, że mgła już tego dnia nie wróci, bo wiatr był z"
        " północy."
    ),
    "pt": (
        "De manhã o pescador desceu ao porto, e não havia ninguém além dos gatos que esperavam pelos"
        " barcos. Ele me disse que o mar não se esquece de ninguém, e depois sentou-se na pedra em que se"
        " senta todos os dias.\n\n"
        "Depois disso o sol saiu de trás do monte, e nós soubemos que a névoa não voltaria mais naquele"
        " dia, porque o vento era do norte."
    ),
    "ru": (
        "Утром рыбак спустился в гавань, и там не было никого, кроме кошек, которые ждали лодок. Он"
        " сказал мне, что море никого не забывает, а потом сел на камень, на котором он сидит каждый"
        " день.\n\n"
        "После этого из-за горы вышло солнце, и мы знали, что туман в тот день уже не вернется, потому"
        " что ветер был с севера."
    ),
    "sv": (
        "På morgonen gick fiskaren ner till hamnen, och det fanns inte någon där utom katterna som"
        " väntade på båtarna. Han sade till mig att havet inte glömmer någon, och sedan satte han sig på"
        " stenen där han sitter varje dag.\n\n"
        "Efter det kom solen fram bakom berget, och vi visste att dimman inte skulle komma tillbaka den"
        " dagen, eftersom vinden kom från norr."
    ),
    "th": (
        "ตอนเช้าชาวประมงลงไปที่ท่าเรือ และไม่มีใครอยู่ที่นั่นนอกจากแมวที่รอเรือ เขาบอกฉันว่าทะเลไม่เคยลืมใคร แล้วเขาก็นั่งลงบนก้อน"
        "หินที่เขานั่งทุกวัน\n\n"
        "หลังจากนั้นดวงอาทิตย์ก็ขึ้นจากหลังภูเขา และเรารู้ว่าหมอกจะไม่กลับมาอีกในวันนั้น เพราะลมพัดมาจากทางเหนือ"
    ),
    "tr": (
        "Sabah balıkçı limana indi ve orada tekneleri bekleyen kedilerden başka kimse yoktu. Bana denizin"
        " hiç kimseyi unutmadığını söyledi ve sonra her gün oturduğu taşın üzerine oturdu.\n\n"
        "Daha sonra güneş tepenin arkasından çıktı ve biz sisin o gün bir daha gelmeyeceğini biliyorduk,"
        " çünkü rüzgar kuzeyden geliyordu."
    ),
    "uk": (
        "Вранці рибалка спустився до гавані, і там не було нікого, крім котів, які чекали на човни. Він"
        " сказав мені, що море нікого не забуває, а потім сів на камінь, на якому він сидить щодня.\n\n"
        "Після цього з-за гори вийшло сонце, і ми знали, що туман того дня вже не повернеться, бо вітер"
        " був з півночі."
    ),
    "vi": (
        "Buổi sáng người đánh cá đi xuống bến cảng, và không có ai ở đó ngoài những con mèo đang chờ"
        " thuyền. Ông nói với tôi rằng biển không quên một ai, rồi ông ngồi xuống hòn đá mà ông vẫn ngồi"
        " mỗi ngày.\n\n"
        "Sau đó mặt trời mọc lên từ phía sau ngọn đồi, và chúng tôi biết rằng sương mù sẽ không trở lại"
        " trong ngày hôm đó, vì gió đến từ phương bắc."
    ),
    "zh": (
        "早晨，渔夫下到港口，那里除了等船的猫以外一个人也没有。他对我说，大海不会忘记任何人，然后就在他每"
        "天都坐的那块石头上坐了下来。\n\n"
        "后来太阳从山后面出来了，我们都知道，那天雾不会再回来了，因为风是从北边吹来的。"
    ),
}
#: Texts that go other ways through the program than prose does.
ODDITIES = {
    "code, which has no stopwords": "def fold(digests): total = sum(weight for digest, weight in digests.items());"
    " return [bit for bit in range(64) if votes[bit] * 2 > total] or raise_error(value, digests, votes)",
    "a word again and again": "\n\n".join(f"the sea {number} the sea" for number in range(40)),
    "typography": "ＦＵＬＬ ｗｉｄｔｈ, ﬁne ligatures, hy\u00adphens, cafe\u0301, STRASSE and Straße, it’s and it's,"
    " zero\u200bwidth, x² and ½, l’été, Σίσυφος, İstanbul",
    "too short": "Not enough to tell one page from another.",
    "nothing": "",
}
