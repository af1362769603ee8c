/** Logs of jobs as people read them: lines with colours, in sections (docs/reference/job_logs.md#page). Pure functions. */

const colours = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

/** Text of one look. */
export interface Piece {
  text: string;
  colour?: (typeof colours)[number];
  bold?: true;
}

export interface LogLine {
  number: number;
  pieces: Piece[];
}

/** Lines that belong together, below the line that names them. */
export interface LogSection {
  name: string;
  heading: LogLine;
  collapsed: boolean;
  /** How long it took; undefined before it has ended. */
  seconds?: number;
  lines: LogLine[];
}

type Look = Omit<Piece, 'text'>;

/** The look after a control sequence such as `1;31`. */
function lookAfter(look: Look, codes: string): Look {
  let next: Look = look;
  for (const code of codes === '' ? [0] : codes.split(';').map(Number)) {
    // What follows says which of many colours; they are shown as text.
    if (code === 38 || code === 48) break;
    if (code === 0) next = {};
    else if (code === 1) next = { ...next, bold: true };
    else if (code === 22) next = { ...(next.colour && { colour: next.colour }) };
    else if (code === 39) next = { ...(next.bold && { bold: true }) };
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) next = { ...next, colour: colours[code % 10]! };
  }
  return next;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are told what to do by such characters.
const control = /\x1b\[([0-9;?]*)([A-Za-z])|\x1b[^[]|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f]/g;

/** A line in its looks, and the look of the next one. */
function piecesOf(line: string, look: Look): { pieces: Piece[]; look: Look } {
  const pieces: Piece[] = [];
  let now = look;
  let at = 0;
  const add = (text: string) => {
    if (text !== '') pieces.push({ text, ...now });
  };
  for (const found of line.matchAll(control)) {
    add(line.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[2] === 'm') now = lookAfter(now, found[1]!);
  }
  add(line.slice(at));
  return { pieces, look: now };
}

const marker = /^section_(start|end):(\d{1,12}):([\w.-]+)(\[[^\]]*\])?$/;

/** What a terminal shows of a line after the cursor went back to its beginning, and the marks of sections before it. */
function shownOf(line: string): { marks: RegExpExecArray[]; text: string } {
  // The runner deletes its marks on the terminal.
  const parts = line.replaceAll('\x1b[0K', '').replace(/\r+$/, '').split('\r');
  const marks = parts.map((part) => marker.exec(part)).filter((found) => found !== null);
  const texts = parts.filter((part) => !marker.test(part));
  return { marks, text: texts.at(-1) ?? '' };
}

/**
 * A log in lines and sections. A section in another one belongs to it.
 * @param text may begin anywhere
 */
export function logParts(text: string): (LogLine | LogSection)[] {
  const parts: (LogLine | LogSection)[] = [];
  const begun = new Map<string, number>();
  let open: LogSection | undefined;
  let look: Look = {};
  let number = 0;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const { marks, text: shown } = shownOf(line);
    let starting: { name: string; collapsed: boolean } | undefined;
    for (const [, kind, time, name, options = ''] of marks) {
      if (kind === 'end') {
        const from = begun.get(name!);
        if (open?.name !== name) continue;
        if (from !== undefined) open!.seconds = Number(time) - from;
        open = undefined;
      } else {
        begun.set(name!, Number(time));
        starting = { name: name!, collapsed: options.includes('collapsed=true') };
      }
    }
    if (shown === '' && marks.length > 0 && !starting) continue;
    number += 1;
    const { pieces, look: next } = piecesOf(shown, look);
    look = next;
    const row = { number, pieces };
    if (starting && !open) {
      open = { ...starting, heading: row, lines: [] };
      parts.push(open);
    } else if (open) open.lines.push(row);
    else parts.push(row);
  }
  return parts;
}
