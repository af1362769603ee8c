/** Pages in a browser: their first byte beside the endpoint that shows the same, their largest paint, a merge request of many files, and memory. */
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { Agent, get, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createBrotliDecompress } from 'node:zlib';
import { chromium } from 'playwright-core';
import { type Instance, startInstance, token } from './instance.ts';
import { seedIssues } from './issue_seed.ts';
import { measuredFrom, p95_ms, timeOf } from './measure.ts';
import { fastImport, git } from './seed.ts';
import { ms, plainRow, type Row } from './table.ts';

/** BENCH_ISSUES makes the instance smaller, to see whether it runs. */
const issues = Number(process.env.BENCH_ISSUES ?? 1_000_000);
const connections = 16;
const requests = Number(process.env.BENCH_REQUESTS ?? 1_600);
const runs = 9;
const views = 5;
/** As the large merge request by which GitLab measures itself. */
const changed_files = 678;
const changed_lines = 53;

const password = 'a password of the benchmark';
const person = 'Ada <ada@example.com> 1700000000 +0000';
const startOf = (branch: string, message: string, from?: string) =>
  `commit refs/heads/${branch}\ncommitter ${person}\ndata ${message.length}\n${message}\n${from === undefined ? '' : `from ${from}\n`}`;
const inline = (file: string, content: string) =>
  `M 100644 inline ${file}\ndata ${Buffer.byteLength(content)}\n${content}\n`;

/** Lines of real programs: our own. */
async function realLines(): Promise<string[]> {
  const source = path.join(import.meta.dirname, '../src');
  const files = await readdir(source, { recursive: true });
  const texts = files
    .filter((file) => file.endsWith('.ts'))
    .toSorted()
    .map((file) => readFile(path.join(source, file), 'utf8'));
  return (await Promise.all(texts)).flatMap((text) => text.split('\n'));
}

/** Files of 100 lines, and a branch in which each of them has 17 lines less and 36 others. */
function* history(lines: readonly string[]): Generator<string> {
  const from = (at: number, count: number) =>
    Array.from({ length: count }, (_, index) => lines[(at + index) % lines.length]!);
  const file = (number: number) => `src/${number % 20}/file${number}.ts`;
  const before = Array.from({ length: changed_files }, (_, number) => from(number * 100, 100));
  yield startOf('main', 'Begin');
  yield inline('README.md', '# Trees\n\nA list of trees.\n');
  for (const [number, content] of before.entries()) yield inline(file(number), `${content.join('\n')}\n`);
  yield startOf('large', 'Change everything', 'refs/heads/main');
  for (const [number, content] of before.entries()) {
    const added = from((changed_files + number) * 100, changed_lines - 17);
    yield inline(file(number), `${[...content.slice(0, 30), ...added, ...content.slice(47)].join('\n')}\n`);
  }
  yield startOf('small', 'Change a file', 'refs/heads/main');
  yield inline(file(0), `${before[0]!.slice(1).join('\n')}\n`);
}

async function addMergeRequests({ api, url }: Instance, folder: string): Promise<void> {
  const source = path.join(folder, 'pages.git');
  await git('init', '--quiet', '--bare', source);
  await fastImport(source, history(await realLines()));
  const { body } = await api.post('/projects', { name: 'pages' });
  await git('-C', source, 'push', '--quiet', '--mirror', `${url.replace('://', `://root:${token}@`)}/root/pages.git`);
  for (const source_branch of ['small', 'large']) {
    const proposed = { title: source_branch, source_branch, target_branch: 'main' };
    const { status } = await api.post(`/projects/${body.id}/merge_requests`, proposed);
    if (status !== 201) throw new Error(`The merge request was answered with ${status}.`);
  }
}

/** @returns the cookie of a session of the administrator */
async function signIn({ url }: Instance): Promise<string> {
  const body = new URLSearchParams({ _do: 'sign_in', login: 'root', password });
  const headers = { 'sec-fetch-site': 'same-origin' };
  const answer = await fetch(`${url}/users/sign_in`, { method: 'POST', body, headers, redirect: 'manual' });
  const cookie = answer.headers.getSetCookie().find((each) => each.startsWith('coppice='));
  if (cookie === undefined) throw new Error(`Signing in was answered with ${answer.status}.`);
  return cookie.split(';', 1)[0]!;
}

/** Asks with GET, and passes each piece of the answer on. @returns how many bytes there were */
async function ask(
  url: string,
  headers: Record<string, string>,
  { agent, seen }: { agent?: Agent; seen?(response: IncomingMessage): void } = {},
): Promise<number> {
  const [response] = (await once(get(url, { headers, ...(agent && { agent }) }), 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${url} answers ${response.statusCode}`);
  seen?.(response);
  let size_bytes = 0;
  for await (const chunk of response) size_bytes += chunk.length;
  return size_bytes;
}

/** The times to the first byte of many requests on 16 connections. */
async function firstBytes(url: string, headers: Record<string, string>): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const taken_ms: number[] = [];
  let left = requests;
  const turns = async () => {
    while (left-- > 0) {
      const began = performance.now();
      const seen = (response: IncomingMessage) => response.once('data', () => taken_ms.push(performance.now() - began));
      await ask(url, headers, { agent, seen });
    }
  };
  await Promise.all(Array.from({ length: connections }, turns));
  agent.destroy();
  // Until everything is compiled and read once.
  return taken_ms.slice(taken_ms.length / 4);
}

interface Shown {
  name: string;
  path: string;
  /** The endpoint that shows the same. */
  endpoint: string;
  target: string;
}

const usual = 'P95 ≤ 60 ms';
const ofCode = 'P95 ≤ 80 ms';

const pagesOf = (project: string): Shown[] => {
  const pages = '/projects/root%2Fpages';
  return [
    { name: 'home', path: '/', endpoint: '/projects', target: usual },
    { name: 'list of issues', path: `/${project}/-/issues`, endpoint: issuesOf(project), target: usual },
    {
      name: 'issue with 20 comments',
      path: `/${project}/-/issues/2`,
      endpoint: `${issuesOf(project)}/2/discussions`,
      target: usual,
    },
    {
      name: 'merge request',
      path: '/root/pages/-/merge_requests/1',
      endpoint: `${pages}/merge_requests/1`,
      target: usual,
    },
    { name: 'project', path: '/root/pages', endpoint: pages, target: usual },
    {
      name: 'folder',
      path: '/root/pages/-/tree/main/src/0',
      endpoint: `${pages}/repository/tree?ref=main&path=src/0&per_page=100`,
      target: ofCode,
    },
    {
      name: 'file',
      path: '/root/pages/-/blob/main/src/0/file0.ts',
      endpoint: `${pages}/repository/files/src%2F0%2Ffile0.ts/raw?ref=main`,
      target: ofCode,
    },
  ];
};

const issuesOf = (project: string) => `/projects/${encodeURIComponent(project)}/issues`;

async function firstByteRow(instance: Instance, cookie: string, { name, path, endpoint, target }: Shown): Promise<Row> {
  const { url, cpu_ms, longestBlock_ms } = instance;
  await longestBlock_ms();
  const before_ms = await cpu_ms();
  const page = await firstBytes(url + path, { cookie, accept: 'text/html', 'accept-encoding': 'br' });
  const of = { ...measuredFrom(page), cpu_ms: ((await cpu_ms()) - before_ms) / requests };
  const block_ms = await longestBlock_ms();
  const api = p95_ms(await firstBytes(`${url}/api/v4${endpoint}`, { 'private-token': token }));
  const row = plainRow(`page: ${name}, first byte`, ms(p95_ms(page)), target, of);
  return { ...row, block: ms(block_ms), limit: ms(api), ratio: `${(p95_ms(page) / api).toFixed(2)}×` };
}

/** The median time of the largest paint in new contexts of a browser, so that nothing is kept from the run before. */
async function paintRows({ url }: Instance, cookie: string, shown: readonly Shown[]): Promise<Row[]> {
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  const [name = '', value = ''] = cookie.split('=');
  const paintOf = async (address: string): Promise<number> => {
    const context = await browser.newContext();
    await context.addCookies([{ name, value, url }]);
    const page = await context.newPage();
    await page.goto(address, { waitUntil: 'load' });
    const paint_ms = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const observer = new PerformanceObserver((list) => resolve(list.getEntries().at(-1)!.startTime));
          // The types of Node do not know this one.
          observer.observe({ type: 'largest-contentful-paint' as 'measure', buffered: true });
        }),
    );
    await context.close();
    return paint_ms;
  };
  try {
    const rows: Row[] = [];
    for (const { name: page, path: address } of shown) {
      const taken_ms: number[] = [];
      for (let run = -2; run < runs; run++) {
        const paint_ms = await paintOf(url + address);
        if (run >= 0) taken_ms.push(paint_ms);
      }
      const measured = measuredFrom(taken_ms);
      rows.push(plainRow(`page: ${page}, largest paint`, ms(measured.p50_ms), '≤ 200 ms', measured));
    }
    return rows;
  } finally {
    await browser.close();
  }
}

const compressed = (cookie: string) => ({ cookie, accept: 'text/html', 'accept-encoding': 'br' });

/** Whether the first file has arrived, in what has been decompressed of a page. */
async function timeToFile(address: string, cookie: string): Promise<number> {
  const began = performance.now();
  let taken_ms = 0;
  await ask(address, compressed(cookie), {
    seen: (response) => {
      const pieces = response.pipe(createBrotliDecompress());
      let text = '';
      pieces.on('data', (piece: Buffer) => {
        if (taken_ms > 0) return;
        text += piece;
        if (text.includes('id="file-1"')) taken_ms = performance.now() - began;
      });
    },
  });
  return taken_ms;
}

async function largeChangeRows(instance: Instance, cookie: string): Promise<Row[]> {
  const address = `${instance.url}/root/pages/-/merge_requests/2/diffs`;
  const name = `page: ${changed_files} files, ${Math.round((changed_files * changed_lines) / 1_000)},000 changed lines`;
  const taken_ms: number[] = [];
  for (let run = 0; run < runs; run++) taken_ms.push(await timeToFile(address, cookie));
  const before_bytes = await instance.allocated_bytes();
  let size_bytes = 0;
  const whole_ms: number[] = [];
  for (let view = 0; view < views; view++)
    whole_ms.push(
      await timeOf(async () => {
        size_bytes = await ask(address, compressed(cookie));
      }),
    );
  const growth_bytes = (await instance.allocated_bytes()) - before_bytes;
  const [first, whole] = [measuredFrom(taken_ms), measuredFrom(whole_ms)];
  return [
    plainRow(`${name}, first file`, ms(first.p50_ms), '≤ 300 ms', first),
    plainRow(`${name}, all of it`, `${Math.round(size_bytes / 1_000)} kB`, '≤ 700 kB', whole),
    plainRow(`${name}, growth in ${views} views`, megabytes(growth_bytes), 'flat'),
  ];
}

const megabytes = (bytes: number) => `${Math.round(bytes / 1024 / 1024)} MiB`;

/** After this time without requests, the server has ended threads and released memory. */
const rest_ms = 45_000;

/** What stays of the first view of each kind of page: what was read and compiled for it. */
async function memoryRows(folder: string): Promise<Row[]> {
  const instance = await startInstance(folder, { COPPICE_ROOT_PASSWORD: password });
  try {
    await addMergeRequests(instance, folder);
    const cookie = await signIn(instance);
    await sleep(rest_ms);
    const before_bytes = await instance.allocated_bytes();
    const shown = pagesOf('root/pages').filter(({ path: address }) => !address.endsWith('/issues/2'));
    const taken_ms: number[] = [];
    for (const { path: address } of shown)
      taken_ms.push(
        await timeOf(() => ask(instance.url + address, { cookie, accept: 'text/html', 'accept-encoding': 'br' })),
      );
    const views_bytes = (await instance.allocated_bytes()) - before_bytes;
    await sleep(rest_ms);
    const growth_bytes = (await instance.allocated_bytes()) - before_bytes;
    const first = measuredFrom(taken_ms);
    return [
      plainRow('page: the first of each kind', ms(Math.max(...taken_ms)), '', first),
      plainRow('page: memory after the first of each kind', megabytes(views_bytes), ''),
      plainRow('page: the same after a rest', megabytes(growth_bytes), '≤ 15 MiB'),
    ];
  } finally {
    await instance.stop();
  }
}

/**
 * Seeds a large instance, and measures.
 * @param folder for its data
 */
export async function measurePages(folder: string): Promise<Row[]> {
  const memory = await memoryRows(path.join(folder, 'fresh'));
  const instance = await startInstance(path.join(folder, 'pages'), { COPPICE_ROOT_PASSWORD: password });
  try {
    const { project } = await seedIssues(instance, issues);
    await addMergeRequests(instance, path.join(folder, 'pages'));
    const { body } = await instance.api.get(`/projects/${project}`);
    for (let comment = 0; comment < 20; comment++)
      await instance.api.post(`/projects/${project}/issues/2/notes`, { body: `Comment ${comment}, see #1` });
    const cookie = await signIn(instance);
    const shown = pagesOf(body.path_with_namespace);
    const rows: Row[] = [];
    for (const each of shown) rows.push(await firstByteRow(instance, cookie, each));
    return [
      ...rows,
      ...(await paintRows(instance, cookie, shown)),
      ...(await largeChangeRows(instance, cookie)),
      ...memory,
    ];
  } finally {
    await instance.stop();
  }
}
