/** Mail: letters that say the same in plain text and in HTML, and handing them over. */

export { type Mail, type Mailer, mailerFor, mailRetries } from './mailer.ts';
export { type Letter, type Paragraph, renderLetter } from './message.ts';
