/**
 * Several processes that answer requests on one port. This one accepts connections and passes them on: a listener shared by the processes, or one each (SO_REUSEPORT), loses
 * the connections that wait in it when a process ends, and node:cluster closes those that it has not handed over yet.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { programFile } from '../foundation/installation.ts';
import { quietMoment } from '../http/drain.ts';
import type { Measured } from '../metrics.ts';

export interface Start {
  type: 'start';
  config: Config;
  connectionString: string;
  /** The maximum number of connections in the process's pool. */
  connections: number;
}

export type ToProcess =
  | Start
  | { type: 'connection' | 'ssh connection' | 'leave' | 'answer last' | 'stop' | 'cut off' }
  | { type: 'measure'; id: number }
  | { type: 'gathered'; id: number; text: string };

export type FromProcess =
  | { type: 'ready' }
  | { type: 'measured'; id: number; measured: Measured }
  | { type: 'gather'; id: number };

export interface ProcessesOptions extends Omit<Start, 'type'> {
  log: Logger;
  /** Returns the metrics of all processes, from the process that gathers them. */
  gather(measured: Measured[]): Promise<string>;
}

export interface Processes {
  /** Passes on a connection to the SSH port. */
  takeSsh(socket: Socket): void;
  /** Makes the processes say that they are not ready. */
  leave(): void;
  /** Stops accepting connections, and ends the processes when their requests are answered. */
  stop(cutOff: Promise<unknown>): Promise<void>;
}

/** A process that ends right after its start must not be restarted without a pause. */
const pause_ms = 1000;
/** A process that is too busy to report its metrics is left out. */
const measureTimeout_ms = 2000;
/** How many connections may wait while no process is ready. */
const maximumQueue = 1000;

/**
 * Starts the processes, and listens when all are ready.
 * @throws the error of listening, and Error when a process ends before it is ready
 */
export async function startProcesses(options: ProcessesOptions): Promise<Processes> {
  const { config, log } = options;
  const team = new Team(options);
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) =>
    team.hand({ type: 'connection', socket }),
  );
  try {
    await team.start(config.processes);
    server.listen({ host: config.host, port: config.port });
    await once(server, 'listening');
  } catch (error) {
    await team.stop(Promise.resolve());
    throw error;
  }
  server.on('error', (error) => log.error({ err: error }, 'cannot accept connections'));
  return {
    leave: () => team.leave(),
    takeSsh: (socket) => team.hand({ type: 'ssh connection', socket }),
    stop: async (cutOff) => {
      team.answerLast();
      await quietMoment(server);
      server.close();
      await team.stop(cutOff);
    },
  };
}

/** A connection, and the port that it came to. */
interface Accepted {
  type: 'connection' | 'ssh connection';
  socket: Socket;
}

/** The processes that answer requests. */
class Team {
  readonly #options: ProcessesOptions;
  readonly #all = new Set<ChildProcess>();
  readonly #ready: ChildProcess[] = [];
  readonly #waiting: Accepted[] = [];
  readonly #measuring = new Map<number, (measured: Measured) => void>();
  #turn = 0;
  #lastId = 0;
  #isStopping = false;

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, () => this.#startOne()));
  }

  /** Passes a connection to the next process in turn. */
  hand(accepted: Accepted): void {
    const { type, socket } = accepted;
    const child = this.#ready[this.#turn++ % this.#ready.length];
    if (child) tell(child, { type }, socket);
    else if (this.#waiting.length < maximumQueue) this.#waiting.push(accepted);
    else socket.destroy();
  }

  leave(): void {
    for (const child of this.#all) tell(child, { type: 'leave' });
  }

  /** Makes every reply close its connection, and holds replies back until the processes are stopped. */
  answerLast(): void {
    for (const child of this.#all) tell(child, { type: 'answer last' });
  }

  async stop(cutOff: Promise<unknown>): Promise<void> {
    this.#isStopping = true;
    const ended = Promise.all([...this.#all].map((child) => once(child, 'exit')));
    for (const child of this.#all) tell(child, { type: 'stop' });
    for (const { socket } of this.#waiting.splice(0)) socket.destroy();
    void cutOff.then(() => this.#cutOff());
    await ended;
  }

  async #cutOff(): Promise<void> {
    for (const child of this.#all) tell(child, { type: 'cut off' });
    await sleep(pause_ms, undefined, { ref: false });
    for (const child of this.#all) child.kill('SIGKILL');
  }

  /** Resolves when the process is ready. */
  #startOne(): Promise<void> {
    const child = fork(programFile('commands/http_process'), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#all.add(child);
    child.on('error', reject);
    child.on('message', (message: FromProcess) => {
      if (message.type === 'measured') this.#measuring.get(message.id)?.(message.measured);
      else if (message.type === 'gather') void this.#gather(child, message.id);
      else {
        this.#ready.push(child);
        for (const accepted of this.#waiting.splice(0)) this.hand(accepted);
        resolve();
      }
    });
    child.once('exit', (code, signal) => {
      this.#all.delete(child);
      const place = this.#ready.indexOf(child);
      if (place >= 0) this.#ready.splice(place, 1);
      const error = new Error(`A server process ended (${signal ?? code}).`);
      reject(error);
      if (!this.#isStopping && place >= 0) void this.#replace(error);
    });
    const { config, connectionString, connections } = this.#options;
    tell(child, { type: 'start', config, connectionString, connections });
    return promise;
  }

  async #replace(reason: Error): Promise<void> {
    const { log } = this.#options;
    log.error({ err: reason }, 'a server process ended; starting another');
    while (!this.#isStopping) {
      try {
        return await this.#startOne();
      } catch (error) {
        log.error({ err: error }, 'a server process could not be started; trying again');
        await sleep(pause_ms, undefined, { ref: false });
      }
    }
  }

  async #gather(asking: ChildProcess, id: number): Promise<void> {
    const measured = await Promise.all(this.#ready.map((child) => this.#measure(child)));
    tell(asking, {
      type: 'gathered',
      id,
      text: await this.#options.gather(measured.filter((each) => each.length > 0)),
    });
  }

  async #measure(child: ChildProcess): Promise<Measured> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<Measured>();
    this.#measuring.set(id, resolve);
    tell(child, { type: 'measure', id });
    const measured = await Promise.race([promise, sleep<Measured>(measureTimeout_ms, [], { ref: false })]);
    this.#measuring.delete(id);
    return measured;
  }
}

/** Sending to a process that has just ended fails; its exit is handled elsewhere. */
function tell(child: ChildProcess, message: ToProcess, socket?: Socket): void {
  if (child.connected) child.send(message, socket, {}, () => {});
  else socket?.destroy();
}
