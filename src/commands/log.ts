/** The log of a process: lines of JSON on standard output. */
import pino, { type Logger } from 'pino';
import type { Config } from '../config.ts';

/** More than a turn of the event loop logs, so that lines wait for its end. */
const buffer_bytes = 1024 * 1024;

/**
 * Opens the log. What a turn of the event loop logs is written at its end, all at once: a write for each line took a fifteenth of the time of a short request.
 * An ending process writes what is left; one that is killed loses a turn.
 */
export function openLog({ logLevel }: Pick<Config, 'logLevel'>): Logger {
  const output = pino.destination({ dest: 1, sync: true, minLength: buffer_bytes, maxWrite: 2 * buffer_bytes });
  let isAwaited = false;
  const flush = () => {
    isAwaited = false;
    output.flushSync();
  };
  process.once('exit', flush);
  const write = (line: string) => {
    output.write(line);
    if (isAwaited) return;
    isAwaited = true;
    setImmediate(flush);
  };
  return pino({ level: logLevel }, { write });
}
