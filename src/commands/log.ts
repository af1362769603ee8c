/** The log of a process on standard output: lines for people on a terminal, JSON elsewhere. */
import { writeSync } from 'node:fs';
import pino, { type Logger } from 'pino';
import { prettyFactory } from 'pino-pretty';
import type { Config } from '../config.ts';

const standardOutput = 1;
const pause_ms = 10;
const pause = new Int32Array(new SharedArrayBuffer(4));

/** Writes to standard output synchronously. Output without a reader is dropped: a server must not exit or block because its log has lost its reader. */
function writeNow(text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(standardOutput, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(pause, 0, 0, pause_ms); // the pipe is full
    }
  }
}

const lineForPeople = prettyFactory({ colorize: true, translateTime: 'SYS:HH:MM:ss', ignore: 'pid,hostname' });

/**
 * Opens the log. Lines are buffered and written once at the end of each turn of the event loop: a write for each line took a fifteenth of the time of a short
 * request. A process that exits flushes the buffer; one that is killed loses the lines of a turn.
 * @param isForPeople whether people read it, by default on a terminal
 */
export function openLog({ logLevel }: Pick<Config, 'logLevel'>, isForPeople = process.stdout.isTTY): Logger {
  let lines = '';
  const flush = () => {
    const text = lines;
    lines = '';
    writeNow(text);
  };
  process.once('exit', flush);
  const write = (line: string) => {
    if (lines === '') setImmediate(flush);
    lines += isForPeople ? lineForPeople(line) : line;
  };
  return pino({ level: logLevel }, { write });
}
