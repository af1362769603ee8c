/** The thread that `plain.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { asWritten } from './plain.ts';

parentPort!.on('message', (text: string) => parentPort!.postMessage(asWritten(text)));
