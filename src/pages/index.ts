/** Small pages behind the links in mail. */
export { type HtmlPage, type HtmlPart, pageForm, sendPage } from './page.ts';
