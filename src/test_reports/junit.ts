/** Results of tests in the XML format of JUnit. */
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { UnreadableReport } from './errors.ts';
import type { Outcome, TestCase } from './types.ts';

const maximumCases = 500_000;
/** Test suites are nested a few levels deep. */
const maximumLevels = 100;
const maximumName_chars = 1_000;
/** Of what one test says. */
const maximumOutput_chars = 100_000;

/** The elements that say how a test ended; a test without one has succeeded. */
const ends: Readonly<Record<string, Outcome>> = { failure: 'failed', error: 'error', skipped: 'skipped' };

const short = (text: string | undefined): string | null => text?.slice(0, maximumName_chars) ?? null;

/** A number of seconds, which some programs write with commas between thousands. */
function secondsIn(text: string | undefined): number {
  const seconds = Number((text ?? '').replaceAll(',', ''));
  return Number.isFinite(seconds) && seconds > 0 ? seconds : 0;
}

const newCase = ({ name, classname, file, time }: Partial<Record<string, string>>): TestCase => ({
  status: 'success',
  name: short(name) ?? '',
  classname: short(classname),
  file: short(file),
  execution_time: secondsIn(time),
  system_output: null,
  attachment: null,
});

/** The path in a line `[[ATTACHMENT|path]]` of the output. */
const attachmentIn = (output: string): string | null =>
  short(/\[\[ATTACHMENT\|([^\]\n]{1,1000})\]\]/.exec(output)?.[1]);

/** Reads one document after the other. */
export class JunitReader {
  readonly cases: TestCase[] = [];
  #current: TestCase | undefined;
  /** The text of the element that is open, if it belongs to a test. */
  #text: string[] | undefined;
  #text_chars = 0;
  #message: string | undefined;
  #depth = 0;

  /**
   * Adds the tests of a document.
   * @throws UnreadableReport for what is not XML, has a document type, is nested too deeply or has too many tests
   */
  read(text: string): void {
    const parser = new SaxesParser();
    parser.on('doctype', () => {
      throw new UnreadableReport('a document type is not allowed');
    });
    parser.on('opentag', (tag) => this.#open(tag));
    parser.on('closetag', ({ name }) => this.#close(name));
    parser.on('text', (part) => this.#add(part));
    parser.on('cdata', (part) => this.#add(part));
    parser.on('error', (error) => {
      throw new UnreadableReport(error.message.slice(0, 200));
    });
    this.#depth = 0;
    this.#current = undefined;
    parser.write(text.replace(/^\uFEFF/, '')).close();
  }

  #open({ name, attributes }: SaxesTagPlain): void {
    if (++this.#depth > maximumLevels) throw new UnreadableReport('it is nested too deeply');
    if (name === 'testcase') {
      if (this.cases.length >= maximumCases) throw new UnreadableReport(`it has more than ${maximumCases} test cases`);
      this.#current = newCase(attributes);
      this.cases.push(this.#current);
    } else if (this.#current && (Object.hasOwn(ends, name) || name === 'system-out')) {
      this.#text = [];
      this.#text_chars = 0;
      this.#message = attributes.message;
    }
  }

  #add(part: string): void {
    if (!this.#text || this.#text_chars >= maximumOutput_chars) return;
    this.#text.push(part.slice(0, maximumOutput_chars - this.#text_chars));
    this.#text_chars += part.length;
  }

  #close(name: string): void {
    this.#depth--;
    if (name === 'testcase') this.#current = undefined;
    if (!this.#current || !this.#text || !(name === 'system-out' || Object.hasOwn(ends, name))) return;
    const output = this.#text.join('');
    this.#text = undefined;
    if (name === 'system-out') this.#current.attachment = attachmentIn(output);
    else if (this.#current.status === 'success') {
      this.#current.status = ends[name]!;
      this.#current.system_output =
        output.trim() === '' ? (this.#message?.slice(0, maximumOutput_chars) ?? null) : output;
    }
  }
}
