/**
 * The process that starts git for a server. It stays small, because starting a process copies the memory map of the one that does, which takes a large server tens
 * of milliseconds. So it imports nothing of the product. It stops its children and ends when the server closes its standard input or dies.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmdirSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import type { LauncherMessage, LauncherReply, LaunchMessage } from './launcher.ts';

const maximumStderr = 64 * 1024;
/** Time for git to remove its locks and half-written files. */
const patience_ms = 5_000;

const address = process.argv[2]!;
/** Undefined until it is started. */
const children = new Map<number, ChildProcess | undefined>();

const reply = (message: LauncherReply): void => void process.stdout.write(`${JSON.stringify(message)}\n`);

/** The socket of the server is gone, for instance because the system has cleaned its temporary folder. */
class Unreachable extends Error {}

/**
 * Opens a connection to the server that becomes a standard stream of git.
 * @param header tells the server which one
 * @throws Unreachable
 */
async function connection(header: string): Promise<Socket> {
  const socket = connect({ path: address });
  socket.pause(); // the incoming bytes are for git to read
  await once(socket, 'connect').catch((error: Error) => {
    throw new Unreachable(error.message);
  });
  await new Promise<void>((resolve, reject) => socket.write(header, (error) => (error ? reject(error) : resolve())));
  return socket;
}

/**
 * The stream arrangement for starting git. Streams up to the second are made blocking, as git expects; so a channel takes the place of standard error until a shell
 * has moved every stream to its final descriptor for git and its hooks.
 */
function commandFor(args: readonly string[], stdin: Socket | undefined, stdout: Socket, channel: Socket | undefined) {
  const input = stdin ?? 'ignore';
  const plain: StdioOptions = [input, stdout, 'pipe'];
  if (!channel) return { program: 'git', words: args, stdio: plain, stderr: 2 };
  const stdio: StdioOptions = [input, stdout, channel, channel, 'pipe'];
  return { program: 'sh', words: ['-c', 'exec git "$@" 2>&4 4>&-', 'git', ...args], stdio, stderr: 4 };
}

async function launch({ id, args, env, streams, group }: LaunchMessage): Promise<void> {
  children.set(id, undefined);
  const sockets = new Map(
    await Promise.all(
      streams.map(async (stream) => [stream, await connection(`${stream} ${id}\n`.padStart(20))] as const),
    ),
  );
  const { program, words, stdio, stderr } = commandFor(
    args,
    sockets.get('stdin'),
    sockets.get('stdout')!,
    sockets.get('channel'),
  );
  const child = spawn(program, words, { cwd: '/', env, stdio, detached: group });
  for (const socket of sockets.values()) socket.destroy();
  children.set(id, child);
  let said = '';
  (child.stdio[stderr] as Socket | null)?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < maximumStderr) said += text;
  });
  child.once('spawn', () => reply({ id, pid: child.pid! }));
  child.once('error', (error) => {
    children.delete(id);
    reply({ id, error: error.message, is_unreachable: false });
  });
  child.once('close', (code) => {
    if (children.delete(id)) reply({ id, code, stderr: said });
  });
}

function signal(child: ChildProcess | undefined, name: NodeJS.Signals): void {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, name);
  } catch {
    child.kill(name); // Not the leader of a group.
  }
}

/** The dead server has left its socket, alone in a folder. */
function removeSocket(): void {
  rmSync(address, { force: true });
  try {
    rmdirSync(dirname(address));
  } catch {
    // The folder contains other files, and must not be removed; or it is gone.
  }
}

function end(): void {
  removeSocket();
  for (const child of children.values()) signal(child, 'SIGTERM');
  setTimeout(() => {
    for (const child of children.values()) signal(child, 'SIGKILL');
    process.exit();
  }, patience_ms).unref();
}

process.stdout.on('error', () => {}); // the server has died; the end of the input tells so too
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const message = JSON.parse(line) as LauncherMessage;
    if ('signal' in message) signal(children.get(message.id), message.signal);
    else
      launch(message).catch((error: Error) => {
        children.delete(message.id);
        reply({ id: message.id, error: error.message, is_unreachable: error instanceof Unreachable });
      });
  })
  .on('close', end);
