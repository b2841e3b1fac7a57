"""A product page: one size of a product, its price, and the description that all sizes share."""

from collections.abc import Sequence

from magazine.catalogue import Product
from magazine.templates import chrome
from magazine.templates.markup import Link, bullets, esc, paragraphs


def render(product: Product, sizes: Sequence[Link]) -> str:
    """Return the page of *product*; *sizes* links the whole family."""
    title = heading(product)
    main = f"""<main class="product">
<h1>{esc(title)}</h1>
<table class="facts">
<tr><th>Size</th><td>{esc(product.measure)}</td></tr>
<tr><th>Price</th><td>£{product.price}</td></tr>
<tr><th>In stock</th><td>{{{{reads}}}} minutes ago</td></tr>
</table>
<div class="description">{paragraphs(product.description)}</div>
<form method="post" action="/basket">
<input type="hidden" name="csrf" value="{{{{token}}}}"> <button>Add to basket</button>
</form>
<h2>Other sizes</h2>
{bullets(sizes, "sizes")}
{chrome.ad("en")}
</main>"""
    return chrome.page("en", title, main, crumbs=[Link("/", "Home"), Link("/shop", "Shop")])


def heading(product: Product) -> str:
    """Return the product's name with its size."""
    return f"{product.title}, {product.size}"


def main_text(product: Product) -> str:
    """Return the main text of the product page: name, size, price, description."""
    return "\n".join([heading(product), product.measure, f"£{product.price}", product.description])
