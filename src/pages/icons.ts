/** Icons, as inline pictures: the compression of a page makes a repeated one a few bytes. */
import { type Html, html, sanitised } from './html.ts';
import { iconShapes } from './icon_shapes.ts';

export type IconName = keyof typeof iconShapes;

const icons = Object.fromEntries(
  Object.entries(iconShapes).map(([name, shape]) => [
    name,
    html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true">${sanitised(shape)}</svg>`,
  ]),
) as Readonly<Record<IconName, Html>>;

/** An icon beside a text that says the same. */
export const icon = (name: IconName): Html => icons[name];
