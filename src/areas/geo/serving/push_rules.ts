/** Where the part of a push ends that its client sends (gitprotocol-pack). Pure functions. */

const flush = '0000';
const nothing = /^0{40,64}$/;
/** git itself accepts this many bytes in a line. */
const maximumLine_bytes = 65_520;
/** As many commands as a push may have with the longest names. */
const maximumCommands_bytes = 64 * 1024 * 1024;

/** The commands of a push, read from the beginning of what a client sends. */
export class PushCommands {
  #waiting = Buffer.alloc(0);
  #size_bytes = 0;
  #sendsPack = false;
  #hasOptions = false;
  #isFirst = true;
  /** Commands, and then, where the client has announced them, its options: each ends with a flush. */
  #sections = 1;

  /** Whether all has been read, and whether a pack follows; undefined when more is to come. */
  end: { pack_follows: boolean } | undefined;

  /** @throws Error for what is no push */
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

  /** Of the next line with its length before it; a flush is only that. */
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
