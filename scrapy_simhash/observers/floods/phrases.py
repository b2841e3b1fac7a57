"""What pages say that are not worth asking for again, in several languages: vocabulary only, no decisions.

A phrase is matched as whole words, whatever their case and the punctuation between them. One that ordinary pages use
as well does not belong here. A language is added by adding its phrases.
"""

from __future__ import annotations

from functools import cache

from scrapy_simhash.page.language import normalize, tokenize

#: Of pages that are not there.
NOT_FOUND = {
    "": ("404", "404 not found"),
    "en": (
        *("not found", "could not find that page", "couldn't find that page", "could not find the page"),
        *("couldn't find the page", "can't find that page", "cannot find the page", "can't find the page"),
        *("page does not exist", "page doesn't exist", "does not exist anymore", "no longer available"),
        *("no longer exists", "page missing", "page unavailable"),
    ),
    "es": ("no encontrada", "no encontrado", "no existe", "no se encontró", "no se ha encontrado"),
    "zh": ("未找到", "找不到", "页面不存在", "頁面不存在", "不存在或已删除", "已被删除", "没有找到"),
    "de": ("nicht gefunden", "existiert nicht", "nicht mehr verfügbar", "nicht vorhanden"),
    "fr": ("introuvable", "page non trouvée", "n'existe pas", "n'existe plus", "n'a pas été trouvée"),
    "it": ("non trovata", "non trovato", "non esiste", "pagina inesistente"),
    "pt": ("não encontrada", "não encontrado", "não existe", "não foi encontrada"),
    "nl": ("niet gevonden", "bestaat niet"),
    "pl": ("nie znaleziono", "nie istnieje", "nie została znaleziona"),
    "ru": ("не найдена", "не найдено", "не найден", "не существует"),
    "sv": ("hittades inte", "kunde inte hittas", "finns inte"),
    "tr": ("bulunamadı", "mevcut değil"),
    "cs": ("nenalezena", "nebyla nalezena", "neexistuje"),
    "ar": ("غير موجودة", "الصفحة غير موجودة"),
    "ja": ("見つかりません", "見つかりませんでした", "存在しません"),
    "ko": ("찾을 수 없습니다", "존재하지 않는"),
}

#: Of pages that let nobody in without a name.
LOGIN = {
    "en": (
        *("log in", "login", "sign in", "signin", "members only", "for members", "member login"),
        *("subscribers only", "for subscribers", "subscribe to read", "subscribe to continue"),
    ),
    "es": ("iniciar sesión", "inicia sesión", "inicio de sesión", "acceso de usuarios", "solo suscriptores"),
    "zh": ("登录", "登入", "请登录", "用户登录", "会员登录"),
    "de": ("anmelden", "anmeldung", "einloggen", "nur für abonnenten", "nur für mitglieder"),
    "fr": ("se connecter", "connectez-vous", "connexion", "réservé aux abonnés", "identifiez-vous"),
    "it": ("accedi", "effettua il login", "solo per abbonati", "area riservata"),
    "pt": ("iniciar sessão", "fazer login", "faça login", "exclusivo para assinantes"),
    "nl": ("inloggen", "aanmelden", "alleen voor abonnees"),
    "pl": ("zaloguj się", "logowanie"),
    "ru": ("войти", "вход на сайт", "авторизация", "только для подписчиков"),
    "sv": ("logga in", "endast för prenumeranter"),
    "tr": ("giriş yap", "oturum aç"),
    "cs": ("přihlášení", "přihlásit se"),
    "ar": ("تسجيل الدخول",),
    "ja": ("ログイン", "会員限定"),
    "ko": ("로그인", "회원 전용"),
}

#: Of pages that want to know who reads them.
ROBOT = {
    "en": (
        *("are you a robot", "are you a human", "are you human", "not a robot", "verify you are human"),
        *("are you a person", "verify that you are human", "verify you're human", "verifying you are human"),
        *("prove you are human", "human verification"),
        *("checking your browser", "just a moment", "attention required cloudflare", "security check"),
        *(
            "pardon our interruption",
            "unusual traffic",
            "automated access",
            "bot detection",
            "human verification",
        ),
    ),
    "es": ("eres un robot", "no soy un robot", "verifica que eres humano", "comprobando su navegador"),
    "zh": ("人机验证", "安全验证", "请完成验证", "访问验证", "不是机器人", "验证您是真人"),
    "de": ("sind sie ein roboter", "kein roboter", "sicherheitsüberprüfung", "ein mensch sind"),
    "fr": ("êtes-vous un robot", "pas un robot", "vérification de sécurité", "que vous êtes humain"),
    "it": ("non sono un robot", "sei un robot", "controllo di sicurezza", "verifica di essere umano"),
    "pt": ("não sou um robô", "você é um robô", "verificação de segurança", "você é humano"),
    "nl": ("bent u een robot", "geen robot"),
    "pl": ("nie jestem robotem", "jesteś człowiekiem"),
    "ru": ("вы не робот", "не робот", "проверка браузера", "подтвердите что вы человек"),
    "ja": ("ロボットではありません", "人間であることを確認"),
    "ko": ("로봇이 아닙니다", "사람인지 확인"),
}

#: Of pages that ask for leave before they show anything.
CONSENT = {
    "en": (
        *("before you continue", "accept all cookies", "accept cookies", "cookie consent", "cookie settings"),
        *("we value your privacy", "we care about your privacy", "we and our partners", "consent to cookies"),
        *(
            "your privacy choices",
            "manage consent",
            "age verification",
            "are you over 18",
            "are you of legal age",
        ),
    ),
    "es": ("antes de continuar", "aceptar cookies", "aceptar todas las cookies", "valoramos su privacidad"),
    "zh": ("接受所有cookie", "同意并继续", "隐私设置", "年龄验证"),
    "de": (
        *("bevor sie fortfahren", "alle cookies akzeptieren", "cookies akzeptieren", "cookie einstellungen"),
        *("wir und unsere partner", "mit werbung weiterlesen", "zustimmen und weiter"),
    ),
    "fr": (
        *("avant d'accéder", "avant de continuer", "accepter les cookies", "tout accepter"),
        *("nous et nos partenaires", "continuer sans accepter"),
    ),
    "it": ("prima di continuare", "accetta tutti i cookie", "accetta i cookie", "accetta e continua"),
    "pt": ("antes de continuar", "aceitar cookies", "aceitar todos os cookies"),
    "nl": ("voordat je verdergaat", "cookies accepteren", "alles accepteren"),
    "pl": ("zanim przejdziesz", "akceptuję pliki cookie", "cenimy twoją prywatność"),
    "ru": ("принять все файлы cookie", "принять cookie", "вам есть 18"),
    "ja": ("クッキーに同意", "同意して続行", "年齢確認"),
}

#: Of the buttons of such pages.
ACCEPT = {
    "en": (
        "accept all",
        "accept",
        "accept cookies",
        "agree",
        "i agree",
        "i accept",
        "allow all",
        "reject all",
    ),
    "es": ("aceptar todo", "aceptar", "aceptar cookies", "rechazar todo", "estoy de acuerdo"),
    "zh": ("接受", "全部接受", "同意", "我同意"),
    "de": ("alle akzeptieren", "akzeptieren", "zustimmen", "alle ablehnen", "einverstanden"),
    "fr": ("tout accepter", "accepter", "tout refuser", "j'accepte"),
    "it": ("accetta tutto", "accetta", "rifiuta tutto", "accetto"),
    "pt": ("aceitar tudo", "aceitar", "rejeitar tudo", "concordo"),
    "nl": ("alles accepteren", "accepteren", "akkoord", "alles weigeren"),
    "pl": ("akceptuj wszystko", "akceptuję", "zgadzam się", "odrzuć wszystko"),
    "ru": ("принять все", "принять", "согласен", "отклонить все"),
    "ja": ("同意する", "すべて許可"),
}

#: Of pages that are nothing without their scripts.
SCRIPTED = {
    "en": ("enable javascript", "requires javascript", "javascript is disabled", "javascript is required"),
    "es": ("habilitar javascript", "habilite javascript", "activar javascript", "active javascript"),
    "zh": ("启用javascript", "开启javascript"),
    "de": ("javascript aktivieren", "aktivieren sie javascript"),
    "fr": ("activer javascript", "activez javascript"),
    "ru": ("включите javascript",),
    "ja": ("javascriptを有効",),
}

_TABLES = {
    "not_found": NOT_FOUND,
    "login": LOGIN,
    "robot": ROBOT,
    "consent": CONSENT,
    "accept": ACCEPT,
    "scripted": SCRIPTED,
}


def says(table: str, text: str) -> bool:
    """Tell whether *text* has a phrase of *table*, which is the name of one of those above in lower case.

    >>> says("not_found", "Página no encontrada"), says("not_found", "Lost and found")
    (True, False)
    """
    words = _words(text)
    return any(phrase in words for phrase in _phrases(table))


@cache
def _phrases(table: str) -> tuple[str, ...]:
    return tuple(_words(phrase) for phrases in _TABLES[table].values() for phrase in phrases)


def _words(text: str) -> str:
    """Return the words of *text* with a space around each, so that a phrase never begins or ends inside of one."""
    return f" {' '.join(tokenize(normalize(text)))} "
