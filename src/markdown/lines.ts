/**
 * The lines of a text and the blocks that they are part of, by the rules of CommonMark. Full Markdown parsers do not guarantee linear time, and this runs on
 * untrusted text: each line is read once, in a limited number of containers.
 */

export interface Line {
  /** Without the line break. */
  text: string;
  /** Its offset in the text, in UTF-16 units. */
  start: number;
  /** Whether it is part of a fenced (fences included) or indented code block, or of a comment. */
  in_code: boolean;
  /** Whether it is part of a quotation. */
  quoted: boolean;
  /** Whether it continues the paragraph of the previous line. */
  continues: boolean;
  /** Its part in a fenced code block. */
  fence: FencePart | undefined;
}

/** The first line of a fenced code block, with what it says after the fence; a line inside; the last line, which a block may lack. */
export type FencePart = { at: 'start'; info: string } | { at: 'inside'; text: string } | { at: 'end' };

/** The deepest nesting of containers; deeper ones are text. */
const maximumDepth = 100;

/** A quotation, or a list item with the indentation of its content in columns. */
type Container = 'quote' | number;

/** The state of the reader. */
interface State {
  containers: Container[];
  /** The end marker of the open code block or comment, and its nesting; for a fenced block also the indentation of its fence, which is removed from its lines. */
  open: { isEnd: (rest: string) => boolean; depth: number; fence?: { indent: number; info: string } } | undefined;
  isParagraph: boolean;
}

/** A position in a line; a tab counts up to four columns. */
interface Cursor {
  text: string;
  at: number;
  column: number;
  /** After the last character that is not white space. */
  end: number;
}

/** Columns of white space before the next character, counted up to `most`. */
function indentOf({ text, at, column }: Cursor, most: number): number {
  let end = column;
  for (let index = at; end - column < most; index++) {
    if (text[index] === ' ') end += 1;
    else if (text[index] === '\t') end += 4 - (end % 4);
    else break;
  }
  return end - column;
}

/** Skips at most this many columns of white space. A tab that reaches further is skipped whole. */
function skipColumns(cursor: Cursor, columns: number): void {
  const end = cursor.column + columns;
  while (cursor.column < end && (cursor.text[cursor.at] === ' ' || cursor.text[cursor.at] === '\t')) {
    cursor.column += cursor.text[cursor.at] === ' ' ? 1 : 4 - (cursor.column % 4);
    cursor.at += 1;
  }
}

const skip = (cursor: Cursor, characters: number) => {
  cursor.at += characters;
  cursor.column += characters;
};

const restOf = ({ text, at }: Cursor) => text.slice(at);

const isBlank = ({ at, end }: Cursor) => at >= end;

/** Skips a quotation mark, if one comes next. */
function takeQuote(cursor: Cursor): boolean {
  const indent = indentOf(cursor, 4);
  if (indent > 3) return false;
  const before = { ...cursor };
  skipColumns(cursor, indent);
  if (cursor.text[cursor.at] !== '>') {
    Object.assign(cursor, before);
    return false;
  }
  skip(cursor, 1);
  skipColumns(cursor, 1);
  return true;
}

/**
 * Skips the marks of open containers.
 * @returns how many of them the line continues
 */
function takeContainers(cursor: Cursor, containers: readonly Container[]): number {
  for (const [index, container] of containers.entries()) {
    if (container === 'quote') {
      if (!takeQuote(cursor)) return index;
    } else if (!isBlank(cursor)) {
      if (indentOf(cursor, container) < container) return index;
      skipColumns(cursor, container);
    }
  }
  return containers.length;
}

const fence = /(`{3,})[^`]*$|(~{3,})/y;
const marker = /(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)/y;
const heading = /#{1,6}(?:[ \t]|$)/y;

/** The rest of the line from the cursor. */
function matchAt(pattern: RegExp, { text, at }: Cursor): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** A line of three or more of the same mark and nothing else. */
function isRule({ text, at }: Cursor): boolean {
  const mark = text[at]!;
  if (mark !== '*' && mark !== '-' && mark !== '_') return false;
  let count = 0;
  for (let index = at; index < text.length; index++) {
    if (text[index] === mark) count += 1;
    else if (text[index] !== ' ' && text[index] !== '\t') return false;
  }
  return count >= 3;
}

/** The end of a fenced block: at least as many of the same mark and nothing else. */
function fenceEnd(opening: string): (rest: string) => boolean {
  return (rest) => {
    const text = rest.trim();
    return text.length >= opening.length && text[0] === opening[0] && text.replaceAll(opening[0]!, '') === '';
  };
}

/**
 * Opens a code block or comment that starts at the cursor.
 * @param indent the columns of white space before it
 */
function openLiteral(cursor: Cursor, state: State, indent: number): boolean {
  const opening = matchAt(fence, cursor);
  const depth = state.containers.length;
  if (opening) {
    const marks = opening[1] ?? opening[2]!;
    const info = cursor.text.slice(cursor.at + marks.length).trim();
    state.open = { isEnd: fenceEnd(marks), depth, fence: { indent, info } };
  } else if (cursor.text.startsWith('<!--', cursor.at)) {
    if (!cursor.text.includes('-->', cursor.at + 4)) state.open = { isEnd: (rest) => rest.includes('-->'), depth };
  } else return false;
  state.isParagraph = false;
  return true;
}

/** Skips the mark of a list item that can start here, and opens the item. */
function openItem(cursor: Cursor, state: State, indent: number): boolean {
  const found = matchAt(marker, cursor);
  if (!found) return false;
  const after = { ...cursor };
  skip(after, found[0].length);
  const isEmpty = isBlank(after);
  if (state.isParagraph && (isEmpty || (found[1] !== undefined && Number(found[1]) !== 1))) return false;
  const spaces = isEmpty ? 1 : indentOf(after, 5);
  const gap = spaces > 4 ? 1 : spaces;
  skipColumns(after, gap);
  Object.assign(cursor, after);
  state.containers.push(indent + found[0].length + gap);
  state.isParagraph = false;
  return true;
}

/** Whether the rest of the line starts a block and thus does not continue the paragraph of a container that it leaves. */
function beginsBlock(cursor: Cursor, state: State): boolean {
  if (isBlank(cursor)) return true;
  const indent = indentOf(cursor, 4);
  if (indent > 3) return false;
  const here = { ...cursor };
  skipColumns(here, indent);
  const probe: State = { containers: [], open: undefined, isParagraph: state.isParagraph };
  return (
    here.text[here.at] === '>' ||
    isRule(here) ||
    matchAt(heading, here) !== null ||
    openLiteral({ ...here }, probe, indent) ||
    openItem({ ...here }, probe, indent)
  );
}

/**
 * Reads the rest of a line after its containers, and opens new ones.
 * @returns whether it is code
 */
function readRest(cursor: Cursor, state: State): boolean {
  for (;;) {
    if (isBlank(cursor)) {
      state.isParagraph = false;
      return false;
    }
    const indent = indentOf(cursor, 4);
    if (indent > 3) return !state.isParagraph;
    const isDeep = state.containers.length >= maximumDepth;
    if (!isDeep && takeQuote(cursor)) {
      state.containers.push('quote');
      state.isParagraph = false;
      continue;
    }
    skipColumns(cursor, indent);
    if (openLiteral(cursor, state, indent)) return true;
    if (!isDeep && !isRule(cursor) && openItem(cursor, state, indent)) continue;
    state.isParagraph = !isRule(cursor) && matchAt(heading, cursor) === null;
    return false;
  }
}

/** A line of an open block, without the white space that its fence has. */
function insideOf(cursor: Cursor, { fence }: NonNullable<State['open']>): FencePart | undefined {
  if (!fence) return undefined;
  const here = { ...cursor };
  skipColumns(here, indentOf(here, fence.indent));
  return { at: 'inside', text: restOf(here) };
}

/** The part of the line that opened the current block. */
const startOf = ({ open }: State): FencePart | undefined => open?.fence && { at: 'start', info: open.fence.info };

/** @returns whether the line is code, whether it continues a paragraph, and its part in a fenced block */
function readLine(text: string, state: State): Pick<Line, 'in_code' | 'continues' | 'fence'> {
  const cursor: Cursor = { text, at: 0, column: 0, end: text.trimEnd().length };
  const matched = takeContainers(cursor, state.containers);
  if (state.open && matched >= state.open.depth) {
    const { open } = state;
    const isEnd = open.isEnd(restOf(cursor));
    if (isEnd) state.open = undefined;
    return { in_code: true, continues: false, fence: isEnd ? open.fence && { at: 'end' } : insideOf(cursor, open) };
  }
  state.open = undefined;
  const wasParagraph = state.isParagraph;
  if (matched < state.containers.length) {
    if (wasParagraph && !beginsBlock(cursor, state)) return { in_code: false, continues: true, fence: undefined };
    state.containers.length = matched;
    state.isParagraph = false;
  }
  const depth = state.containers.length;
  const in_code = readRest(cursor, state);
  const continues = wasParagraph && state.isParagraph && matched === depth && state.containers.length === depth;
  return { in_code, continues, fence: startOf(state) };
}

/** The lines of a Markdown text, in order. Takes linear time for any text. */
export function* linesOf(text: string): Generator<Line, void, void> {
  const state: State = { containers: [], open: undefined, isParagraph: false };
  for (let start = 0; start <= text.length; ) {
    const next = text.indexOf('\n', start);
    const end = next === -1 ? text.length : next;
    const line = text.slice(start, end > start && text[end - 1] === '\r' ? end - 1 : end);
    const { in_code, continues, fence } = readLine(line, state);
    yield { text: line, start, in_code, quoted: state.containers.includes('quote'), continues, fence };
    start = end + 1;
  }
}
