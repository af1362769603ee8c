/** The small pages that mail leads people to. */
export { type HtmlPage, type HtmlPart, pageForm, sendPage } from './page.ts';
