/** A short file of a form, as doors that keep files receive it. */
export class SentFile {
  /** The base name that the browser sent; never empty. */
  readonly name: string;
  readonly content: Buffer;
  constructor(name: string, content: Buffer) {
    this.name = name;
    this.content = content;
  }
}
