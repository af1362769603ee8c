/** The thread that `reading.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { jsonOf } from './parts.ts';

parentPort!.on('message', (yaml: string) => parentPort!.postMessage(jsonOf(yaml)));
