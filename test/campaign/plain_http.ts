/** HTTP at the least cost: requests that are complete texts, over connections that are kept, and of answers only the status and where they end. */
import { connect, type Socket } from 'node:net';

export interface Answered {
  /** 0 where the connection broke. */
  status: number;
}

const headEnd = '\r\n\r\n';
const lastChunk = Buffer.from('0\r\n\r\n');
const bodiless = new Set([204, 304]);

/** The status of an answer that has come completely. */
function statusOf(answer: Buffer): number | undefined {
  const end = answer.indexOf(headEnd);
  if (end < 0) return undefined;
  const head = answer.toString('latin1', 0, end);
  const status = Number(head.slice(9, 12));
  if (bodiless.has(status)) return status;
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  const isComplete =
    length === undefined
      ? answer.subarray(-lastChunk.length).equals(lastChunk)
      : answer.length >= end + headEnd.length + Number(length);
  return isComplete ? status : undefined;
}

class Connection {
  readonly #socket: Socket;
  #answer: Buffer = Buffer.alloc(0);
  #answered: ((status: number) => void) | undefined;

  constructor(url: URL) {
    this.#socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true });
    this.#socket.on('data', (chunk: Buffer) => this.#hear(chunk));
    this.#socket.on('error', () => {}); // `close` follows
    this.#socket.on('close', () => this.#end(0));
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  send(request: string): Promise<number> {
    this.#answer = Buffer.alloc(0);
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.write(request);
    });
  }

  close(): void {
    this.#socket.destroy();
  }

  #hear(chunk: Buffer): void {
    this.#answer = this.#answer.length === 0 ? chunk : Buffer.concat([this.#answer, chunk]);
    const status = statusOf(this.#answer);
    if (status !== undefined) this.#end(status);
  }

  #end(status: number): void {
    this.#answered?.(status);
    this.#answered = undefined;
  }
}

/** As many connections as there are requests at a time. */
export class Connections {
  readonly #url: URL;
  readonly #idle: Connection[] = [];

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** @param request with its head and body */
  async send(request: string): Promise<Answered> {
    let connection = this.#idle.pop();
    while (connection && !connection.isOpen) connection = this.#idle.pop();
    connection ??= new Connection(this.#url);
    const status = await connection.send(request);
    if (connection.isOpen) this.#idle.push(connection);
    return { status };
  }

  close(): void {
    for (const connection of this.#idle) connection.close();
  }
}
