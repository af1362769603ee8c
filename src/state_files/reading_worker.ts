/** The thread that `reading.ts` starts. It reads one state after another. */
import { parentPort } from 'node:worker_threads';
import { readState, type SentState } from './serials.ts';

parentPort!.on('message', (sent: SentState) => parentPort!.postMessage(readState(sent)));
