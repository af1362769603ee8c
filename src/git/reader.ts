/** One long-lived `git cat-file --batch-command`: requests are written as they come, and the replies arrive in the same order. */
import { argumentsOf, GitError, start } from './command.ts';
import type { GitProcess } from './launcher.ts';
import type { Repository } from './types.ts';

export interface ObjectHeader {
  id: string;
  type: 'blob' | 'tree' | 'commit' | 'tag';
  size_bytes: number;
}

export interface StoredObject extends ObjectHeader {
  content: Buffer;
}

type Answer = ObjectHeader | StoredObject | undefined;

interface Question {
  wants_content: boolean;
  /** Shared by all callers that made the same request before it was sent. */
  answer: PromiseWithResolvers<Answer>;
}

const newline = 0x0a;
/** A header is an id, a type and a size, or the request and a word; `ask` limits the length of requests. */
const maximumQuestion = 4096;
/** Limits memory. Callers check the size of a file first and never reach it. */
const maximumContent = 512 * 1024 * 1024;

/** The process has ended; the request can be retried with another one. */
export class ReaderDied extends Error {
  override name = 'ReaderDied';
}

/** Keeps the process alive while any reader has work. One shared timer costs less than referencing the four pipes of each reader. */
const hold = setInterval(() => {}, 2 ** 31 - 1).unref();
let holders = 0;

function holdTheServer(): void {
  holders += 1;
  if (holders === 1) hold.ref();
}

function releaseTheServer(): void {
  holders -= 1;
  if (holders === 0) hold.unref();
}

export class Reader {
  /** Undefined until it has started. */
  #process: GitProcess | undefined;
  /** Requests without a reply, sent or not, in order. */
  readonly #questions: Question[] = [];
  /** Requests that have not been sent, by their command. */
  #unsent = new Map<string, Question>();
  /** Bytes of an incomplete header. */
  #rest: Buffer = Buffer.alloc(0);
  /** The object whose content is arriving; its buffer includes the line feed that follows the content. */
  #arriving: { header: ObjectHeader; buffer: Buffer; filled: number } | undefined;
  #is_open = true;
  readonly #onEnd: () => void;
  readonly closed: Promise<void>;

  /** Starts the process. `onEnd` is called once, when the reader stops accepting requests. */
  constructor(repository: Repository, onEnd: () => void) {
    this.#onEnd = onEnd;
    this.closed = start(argumentsOf(repository, 'cat-file', ['--batch-command', '-z']), { streams: ['stdin'] }).then(
      (process) => this.#serve(process),
      (error: Error) => this.#end(error),
    );
  }

  async #serve(process: GitProcess): Promise<void> {
    this.#process = process;
    process.unref();
    process.stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    this.#send();
    if (!this.#is_open) this.#close();
    const { code, stderr } = await process.ended;
    this.#end(new ReaderDied(`git cat-file ended with ${code}: ${stderr.trim()}`));
  }

  get is_open(): boolean {
    return this.#is_open;
  }

  /** Requests without a reply. */
  get load(): number {
    return this.#questions.length;
  }

  /**
   * Requests an object by a name without NUL and line feed.
   * @returns undefined when there is none, or when several match an abbreviated id
   * @throws ReaderDied when the process ends before it replies
   */
  ask(name: string, wants_content: false): Promise<ObjectHeader | undefined>;
  ask(name: string, wants_content: true): Promise<StoredObject | undefined>;
  ask(name: string, wants_content: boolean): Promise<Answer> {
    // git repeats the name of a missing object up to the end of the line; an empty name would end the process.
    if (name === '' || name.length > maximumQuestion || /[\0\n]/.test(name)) return Promise.resolve(undefined);
    if (!this.#is_open) return Promise.reject(new ReaderDied('git cat-file accepts no more requests'));
    const command = `${wants_content ? 'contents' : 'info'} ${name}\0`;
    const known = this.#unsent.get(command);
    if (known) return known.answer.promise;
    const question: Question = { wants_content, answer: Promise.withResolvers() };
    if (this.#questions.length === 0) holdTheServer();
    this.#questions.push(question);
    // Deferred, so that all requests of this turn of the event loop go into one write.
    if (this.#unsent.size === 0) setImmediate(() => this.#send());
    this.#unsent.set(command, question);
    return question.answer.promise;
  }

  #send(): void {
    if (this.#unsent.size === 0 || !this.#process) return;
    this.#process.stdin!.write([...this.#unsent.keys()].join(''));
    this.#unsent.clear();
  }

  /** Stops accepting requests, replies to pending ones, and ends. */
  retire(): Promise<void> {
    if (this.#is_open) {
      this.#is_open = false;
      this.#onEnd();
      this.#send();
      this.#close();
    }
    return this.closed;
  }

  #close(): void {
    this.#process?.ref();
    this.#process?.stdin?.end();
  }

  #receive(chunk: Buffer): void {
    let unread = chunk;
    while (unread.length > 0) {
      unread = this.#arriving ? this.#receiveContent(unread) : this.#receiveHeader(unread);
    }
  }

  #receiveHeader(chunk: Buffer): Buffer {
    const end = chunk.indexOf(newline);
    if (end < 0) {
      this.#rest = Buffer.concat([this.#rest, chunk]);
      if (this.#rest.length > 2 * maximumQuestion) this.#kill('git cat-file answered with something that is no header');
      return Buffer.alloc(0);
    }
    const line = Buffer.concat([this.#rest, chunk.subarray(0, end)]).toString('utf8');
    this.#rest = Buffer.alloc(0);
    const question = this.#questions[0];
    const match = /^([0-9a-f]{40,64}) (blob|tree|commit|tag) (\d+)$/.exec(line);
    if (match && question) {
      const header: ObjectHeader = {
        id: match[1]!,
        type: match[2] as ObjectHeader['type'],
        size_bytes: Number(match[3]),
      };
      if (question.wants_content && header.size_bytes > maximumContent)
        this.#kill(`${header.id} is too large to be read at once`);
      else if (question.wants_content) {
        this.#arriving = { header, buffer: Buffer.allocUnsafe(header.size_bytes + 1), filled: 0 };
      } else this.#answer(header);
    } else if (question && / (missing|ambiguous)$/.test(line)) this.#answer(undefined);
    else this.#kill(`git cat-file answered with something that is no header: ${line.slice(0, 100)}`);
    return chunk.subarray(end + 1);
  }

  #receiveContent(chunk: Buffer): Buffer {
    const object = this.#arriving!;
    const copied = chunk.copy(object.buffer, object.filled);
    object.filled += copied;
    if (object.filled === object.buffer.length) {
      this.#arriving = undefined;
      this.#answer({ ...object.header, content: object.buffer.subarray(0, -1) });
    }
    return chunk.subarray(copied);
  }

  #answer(object: Answer): void {
    const question = this.#questions.shift();
    if (!question) return;
    question.answer.resolve(object);
    if (this.#questions.length === 0) releaseTheServer();
  }

  #kill(reason: string): void {
    this.#end(new GitError('cat-file', null, reason));
    this.#process?.kill('SIGKILL');
  }

  #end(error: Error): void {
    if (this.#is_open) {
      this.#is_open = false;
      this.#onEnd();
    }
    this.#unsent.clear();
    if (this.#questions.length > 0) releaseTheServer();
    for (const { answer } of this.#questions.splice(0)) answer.reject(error);
  }
}
