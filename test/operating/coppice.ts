/** Coppice as an operator has it: programs on a data folder of their own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type Client, clientOf } from '../support/client.ts';
import { compileCache } from '../support/compile_cache.ts';
import { atFileEnd } from '../support/file_end.ts';
import { prepareData } from '../support/prepared_data.ts';
import { program } from '../support/program.ts';

/** A secret key of sufficient length. */
export const rootToken = 'glpat-of-the-first-administrator';

/** Headers of calls whose connections end with them: a stop waits a second for what an open one may still bring. */
export const oneCall = { connection: 'close' };

const isRunning = (child: ChildProcess) => child.exitCode === null && child.signalCode === null;

/** An empty folder, removed when the test file ends. */
export async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'coppice-operating-'));
  atFileEnd(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** A data folder for a server: with an empty database where a test run has one to copy, so that the first start is short. */
export async function dataFolder(): Promise<string> {
  const data = path.join(await folder(), 'data');
  await prepareData(data);
  return data;
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

type Environment = Record<string, string>;

/** Starts a command; it is stopped at the latest when the test file ends. */
export function start(words: string[], environment: Environment): ChildProcess {
  const env = {
    PATH: process.env.PATH,
    COPPICE_ROOT_TOKEN: rootToken,
    COPPICE_LOG_LEVEL: 'error',
    ...compileCache,
    ...environment,
  };
  const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  atFileEnd(async () => {
    if (!isRunning(child)) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  return child;
}

export interface Ended {
  out: string;
  err: string;
  code: number;
}

/** Runs a command to its end. */
export async function coppice(words: string[], environment: Environment): Promise<Ended> {
  const child = start(words, environment);
  const [out, err, [code]] = await Promise.all([text(child.stdout!), text(child.stderr!), once(child, 'exit')]);
  return { out, err, code: code as number };
}

export interface Server {
  child: ChildProcess;
  url: string;
  /** The administrator. */
  root: Client;
  /** A client with this token; left out, it is anonymous. */
  as(token?: string): Client;
  /** Sends SIGTERM and gives the exit code, when it has ended. */
  stop(): Promise<number>;
}

/** Starts `serve` and waits until it is ready. */
export async function serve(environment: Environment): Promise<Server> {
  const { COPPICE_PORT = String(await freePort()) } = environment;
  const child = start(['serve'], {
    COPPICE_PORT,
    COPPICE_SSH_PORT: '0',
    COPPICE_URL: 'http://coppice.test',
    ...environment,
  });
  let said = '';
  let complaints = '';
  child.stderr!.on('data', (part) => {
    complaints += part;
  });
  for await (const part of child.stdout!.iterator({ destroyOnReturn: false })) {
    said += part;
    if (/Ctrl-C stops/.test(said)) break;
  }
  if (!/Ctrl-C stops/.test(said)) throw new Error(`It ended after: ${said}${complaints}`);
  child.stdout!.resume();
  const url = `http://127.0.0.1:${COPPICE_PORT}`;
  const stop = async () => {
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    return (await exit)[0] as number;
  };
  const as = (token?: string) => clientOf(`${url}/api/v4`, token, oneCall);
  return { child, url, root: as(rootToken), as, stop };
}
