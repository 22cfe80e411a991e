"""A plot of lines as SVG, both axes logarithmic: enough for how a cost grows."""

import math
from html import escape

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 36, 52
# Okabe and Ito's, which most eyes tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")


def ticks(least, most):
    """1, 2 and 5 times the powers of ten in a range, and the ones that enclose it."""
    steps = [m * 10.0**e for e in range(math.floor(math.log10(least)) - 1, math.ceil(math.log10(most)) + 2) for m in (1, 2, 5)]
    first = max(i for i, step in enumerate(steps) if step <= least * (1 + 1e-9))
    last = min(i for i, step in enumerate(steps) if step >= most * (1 - 1e-9))
    return steps[first:max(last, first + 1) + 1]


def svg(title, x_label, y_label, lines):
    """`lines` has for each name its points."""
    points = [point for line in lines.values() for point in line]
    xs, ys = (ticks(min(p[i] for p in points), max(p[i] for p in points)) for i in (0, 1))
    share = lambda value, marks: math.log(value / marks[0]) / math.log(marks[-1] / marks[0])
    x = lambda value: LEFT + share(value, xs) * (WIDTH - LEFT - RIGHT)
    y = lambda value: HEIGHT - BOTTOM - share(value, ys) * (HEIGHT - TOP - BOTTOM)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>',
        f'<text transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>',
    ]
    for mark in xs:
        out.append(f'<line x1="{x(mark):.1f}" x2="{x(mark):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="#ddd"/>')
        if len(xs) < 8 or mark in (xs[0], xs[-1]) or math.log10(mark).is_integer():
            out.append(f'<text x="{x(mark):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{mark:,.12g}</text>')
    for mark in ys:
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(mark):.1f}" y2="{y(mark):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{y(mark) + 4:.1f}" text-anchor="end">{mark:,.12g}</text>')
    for (name, line), colour in zip(lines.items(), COLOURS):
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in line)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="3" fill="{colour}"/>' for a, b in line]
    # Names beside the ends of their lines, apart from each other.
    below = TOP - 14
    for (name, line), colour in sorted(zip(lines.items(), COLOURS), key=lambda item: y(item[0][1][-1][1])):
        below = max(below + 14, y(line[-1][1]) + 4)
        out.append(f'<text x="{x(line[-1][0]) + 8:.1f}" y="{below:.1f}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"
