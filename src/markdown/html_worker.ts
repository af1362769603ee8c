/** The thread that `html.ts` starts. */
import { parentPort } from 'node:worker_threads';
import { renderedHtml, type ToRender } from './html.ts';

/** A few characters can expand to many copies of a long address or a deep list. */
const maximumHtml_chars = 8_000_000;

parentPort!.on('message', async (request: ToRender) => {
  parentPort!.postMessage(await renderedHtml(request, maximumHtml_chars));
});
