"""The words of the site's furniture, in its three languages."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Labels:
    """Everything a template says that is not content. *menu* pairs a path with its words."""

    masthead: str
    motto: str
    menu: tuple[tuple[str, str], ...]
    home: tuple[str, str]
    cookies: str
    accept: str
    by: str
    reads: str
    built: str
    share: str
    related: str
    also_in_language: str
    print_it: str
    compact: str
    newsletter: str
    address: str
    subscribe: str
    comments: str
    tags: str
    older: str
    newer: str
    sponsored: str
    full_site: str
    versions: str
    legal: str


LABELS = {
    "en": Labels(
        masthead="The Harbour Lamp",
        motto="A magazine from Saltmere, published when the tide allows",
        menu=(
            ("/", "Home"),
            ("/latest", "Latest"),
            ("/boats", "Boats"),
            ("/kitchen", "Kitchen"),
            ("/town", "Town"),
            ("/science", "Science"),
            ("/garden", "Garden"),
            ("/arts", "Arts"),
            ("/calendar?month=2024-06", "What's on"),
            ("/shop", "Shop"),
            ("/es", "Español"),
            ("/zh", "中文"),
        ),
        home=("/", "Home"),
        cookies="We keep two cookies in a tin: one remembers you, the other is for the harbour master.",
        accept="That's fine",
        by="By",
        reads="read {} times",
        built="page built at {}",
        share="Share this page",
        related="More to read",
        also_in_language="Read this in",
        print_it="Print this story",
        compact="Light version",
        newsletter="A letter on the first of the month, with the tides in it.",
        address="Your e-mail address",
        subscribe="Subscribe",
        comments="What readers say",
        tags="Filed under",
        older="Older",
        newer="Newer",
        sponsored="Advertisement",
        full_site="See the full page",
        versions="Versions of this story",
        legal="The Harbour Lamp is printed above the chandlery. Mistakes are our own and are corrected on Mondays.",
    ),
    "es": Labels(
        masthead="El Farol del Puerto",
        motto="La revista de Saltmere, cuando la marea lo permite",
        menu=(
            ("/es", "Portada"),
            ("/es/barcos", "Barcos"),
            ("/es/pueblo", "Pueblo"),
            ("/es/cocina", "Cocina"),
            ("/es/ciencia", "Ciencia"),
            ("/es/arte", "Arte"),
            ("/", "English"),
            ("/zh", "中文"),
        ),
        home=("/es", "Portada"),
        cookies="Guardamos dos galletas en una lata: una le recuerda a usted, la otra es para el práctico.",
        accept="De acuerdo",
        by="Por",
        reads="leído {} veces",
        built="página generada el {}",
        share="Compartir esta página",
        related="Para seguir leyendo",
        also_in_language="Leer en",
        print_it="Imprimir este artículo",
        compact="Versión ligera",
        newsletter="Una carta el primer día de cada mes, con las mareas dentro.",
        address="Su correo electrónico",
        subscribe="Suscribirse",
        comments="Dicen los lectores",
        tags="Archivado en",
        older="Anteriores",
        newer="Más recientes",
        sponsored="Publicidad",
        full_site="Ver la página completa",
        versions="Versiones de este artículo",
        legal="El Farol del Puerto se imprime encima de la tienda de efectos navales. Los errores son nuestros.",
    ),
    "zh": Labels(
        masthead="港灯",
        motto="盐港的杂志，潮水允许的时候出版",
        menu=(
            ("/zh", "首页"),
            ("/zh/boats", "船舶"),
            ("/zh/town", "镇上"),
            ("/zh/science", "科学"),
            ("/zh/arts", "文艺"),
            ("/zh/kitchen", "厨房"),
            ("/", "English"),
            ("/es", "Español"),
        ),
        home=("/zh", "首页"),
        cookies="我们在铁罐里放了两块小饼干：一块用来记住您，另一块留给港务长。",
        accept="知道了",
        by="文",
        reads="已读 {} 次",
        built="页面生成于 {}",
        share="分享本页",
        related="接着读",
        also_in_language="其他语言",
        print_it="打印本文",
        compact="简版",
        newsletter="每月一号一封信，里面有潮汐表。",
        address="您的电子邮箱",
        subscribe="订阅",
        comments="读者来信",
        tags="标签",
        older="更早",
        newer="更新",
        sponsored="广告",
        full_site="查看完整页面",
        versions="本文的其他版本",
        legal="《港灯》在船具店楼上印刷，错误由我们负责，每星期一更正。",
    ),
}

LANGUAGE_NAMES = {"en": "English", "es": "Español", "zh": "中文"}
HTML_LANG = {"en": "en-GB", "es": "es", "zh": "zh-CN"}
