/** Sends an exception and a message to each DSN of its standard input from a page in a headless Chromium, as an application in a browser does. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { build } from 'esbuild';

/** A new profile that asks nobody for anything. */
const options = [
  ...[
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
  ],
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
];

const page = (dsns: string) => `
  import * as Sentry from '@sentry/browser';
  function pick() {
    throw new RangeError('no apples left');
  }
  for (const dsn of ${dsns}) {
    Sentry.init({ dsn, release: 'orchard@1.0', environment: 'autumn' });
    try {
      pick();
    } catch (error) {
      Sentry.captureException(error);
    }
    Sentry.captureMessage('the harvest is late', 'warning');
    await Sentry.close(5000);
  }
  await fetch('/done', { method: 'POST' });`;

const [chromium = 'chromium'] = process.argv.slice(2);
const stdin = { contents: page(await text(process.stdin)), resolveDir: import.meta.dirname };
const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', write: false, logLevel: 'error' });
const isDone = Promise.withResolvers<void>();
const server = createServer((request, response) => {
  if (request.method === 'POST') isDone.resolve();
  const isScript = request.url === '/script.js';
  response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
  response.end(isScript ? outputFiles[0]!.contents : '<!doctype html><script type="module" src="/script.js"></script>');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
const profile = await mkdtemp(path.join(tmpdir(), 'coppice-chromium-'));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const browser = spawn(chromium, [...options, `--user-data-dir=${profile}`, url], { stdio: 'ignore', detached: true });
const ended = once(browser, 'exit');
await Promise.race([isDone.promise, ended.then(() => Promise.reject(new Error('the browser ended')))]);
// With all of its processes.
process.kill(-browser.pid!, 'SIGKILL');
await ended;
server.closeAllConnections();
server.close();
await rm(profile, { recursive: true, force: true, maxRetries: 5 });
