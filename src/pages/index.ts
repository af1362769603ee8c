/** Pages for people in browsers. */
export { readAssets } from './assets.ts';
export { controlOf, type Over, wordsOf } from './controls.ts';
export {
  confirmation,
  type Field,
  fieldOf,
  filterForm,
  form,
  hidden,
  type Option,
  refusalIn,
  versionOf,
} from './forms.ts';
export { type Content, Html, html, sanitised } from './html.ts';
export { type IconName, icon } from './icons.ts';
export { dismissalPath, type House, type Notice, type Section } from './layout.ts';
export * from './marks.ts';
export { copyButton, menu } from './menus.ts';
export { type HtmlPage, type HtmlPart, pageForm, sendPage, unreadableForm } from './notice.ts';
export * from './page.ts';
export * from './parts.ts';
export { leadTo, ownPath } from './redirects.ts';
export { type PagesOptions, pageDoorway } from './serve.ts';
