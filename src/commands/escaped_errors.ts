/** Errors that escape their request, such as those of a stream without a listener. */
import type { Logger } from 'pino';

/** Logs escaped errors and keeps the process running: ending it would cut off every other request. */
export function surviveEscapedErrors(log: Logger): void {
  // Rejections without a handler arrive here too.
  process.on('uncaughtException', (error, origin) => log.error({ err: error, origin }, 'an error escaped its request'));
}
