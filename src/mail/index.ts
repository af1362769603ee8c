/** Mail: messages in plain text and HTML, and sending them. */
export {
  connections,
  isAnswered,
  isRefusedAddress,
  type Mail,
  mailerFor,
  mailRetries,
  tryMailServer,
} from './mailer.ts';
export { type Paragraph, renderMessage } from './message.ts';
