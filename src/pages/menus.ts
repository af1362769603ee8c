/** Menus behind buttons, and buttons that copy. */
import { type Content, type Html, html } from './html.ts';
import { icon } from './icons.ts';

/**
 * A menu behind a button; one of a page is open at a time.
 * @param content lists of links, or a form
 */
export const menu = (summary: Content, content: Content, { look }: { look?: 'primary' } = {}): Html =>
  html`<details class="menu" name="menu"><summary class="${look === 'primary' ? 'button primary' : 'button'}">${summary}${icon('down')}</summary><div class="pop">${content}</div></details>`;

/**
 * A button that copies a text; only there where JavaScript is on.
 * @param text an address of ours begins with a slash, and is copied with the server
 * @param label is read aloud, unless it is shown
 */
export const copyButton = (text: string, label: string, { is_shown = false } = {}): Html =>
  html`<button type="button" class="quiet" data-copy="${text}" ?aria-label="${!is_shown && label}" hidden>${icon('copy')}${is_shown && label}</button>`;
