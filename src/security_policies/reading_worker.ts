/** The thread that `reading.ts` starts. It reads one file after another. */
import { parentPort } from 'node:worker_threads';
import { policiesIn } from './file.ts';

parentPort!.on('message', (text: string) => parentPort!.postMessage(policiesIn(text)));
