/** Finds the end of the client's part of a push (gitprotocol-pack). Pure functions. */

const flush = '0000';
const nothing = /^0{40,64}$/;
/** The maximum length of a line that git itself accepts. */
const maximumLine_bytes = 65_520;
/** The size of the maximum number of commands with the longest names. */
const maximumCommands_bytes = 64 * 1024 * 1024;

/** Parses the commands of a push from the start of the client's stream. */
export class PushCommands {
  #waiting = Buffer.alloc(0);
  #size_bytes = 0;
  #sendsPack = false;
  #hasOptions = false;
  #isFirst = true;
  /** The commands and, if the client has announced them, the push options: each section ends with a flush packet. */
  #sections = 1;

  /** Whether everything has been read, and whether a pack follows; undefined while more is expected. */
  end: { pack_follows: boolean } | undefined;

  /** @throws Error for data that is not a push */
  read(chunk: Buffer): void {
    if (this.end) return;
    this.#size_bytes += chunk.length;
    if (this.#size_bytes > maximumCommands_bytes) throw new Error('The push has too many commands.');
    this.#waiting = Buffer.concat([this.#waiting, chunk]);
    while (!this.end && this.#waiting.length >= 4) {
      const length = this.#lineLength();
      if (this.#waiting.length < length) return;
      const line = this.#waiting.subarray(4, length);
      this.#waiting = this.#waiting.subarray(length);
      if (line.length === 0) this.#endSection();
      else if (this.#sections === 1) this.#readCommand(line.toString('latin1'));
    }
  }

  /** The length of the next line including its length prefix; a flush packet consists only of the prefix. */
  #lineLength(): number {
    const head = this.#waiting.toString('latin1', 0, 4);
    if (head === flush) return 4;
    const length = /^[0-9a-f]{4}$/i.test(head) ? Number.parseInt(head, 16) : 0;
    if (length < 4 || length > maximumLine_bytes) throw new Error('The push cannot be read.');
    return length;
  }

  #readCommand(line: string): void {
    const [command = '', capabilities = ''] = line.split('\0', 2);
    if (this.#isFirst) this.#hasOptions = /(?:^| )push-options(?: |\n|$)/.test(capabilities);
    this.#isFirst = false;
    const [, to = ''] = command.split(' ', 2);
    if (/^[0-9a-f]{40,64}$/.test(to) && !nothing.test(to)) this.#sendsPack = true;
  }

  #endSection(): void {
    if (this.#sections === 1 && this.#hasOptions) this.#sections = 2;
    else this.end = { pack_follows: this.#sendsPack };
  }
}
