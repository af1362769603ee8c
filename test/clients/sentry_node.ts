/** Sends an exception and a message to each DSN of its standard input, as an application does. */
import { json } from 'node:stream/consumers';
import * as Sentry from '@sentry/node';

function pick(): never {
  throw new RangeError('no apples left');
}

for (const dsn of (await json(process.stdin)) as string[]) {
  Sentry.init({ dsn, release: 'orchard@1.0', environment: 'autumn' });
  try {
    pick();
  } catch (error) {
    Sentry.captureException(error);
  }
  Sentry.captureMessage('the harvest is late', 'warning');
  await Sentry.close(5000);
}
