/** The thread that `mapping.ts` starts. */
import { parentPort } from 'node:worker_threads';
import type { ToMap } from './mapping.ts';
import { mapped } from './maps.ts';

parentPort!.on('message', (asked: ToMap) => parentPort!.postMessage(mapped(asked)));
