/**
 * The references in a text: people, issues, labels and so on. One pass from left to right reads every character a limited number of times: patterns match at
 * a position and have no nested repetition.
 */
import { linesOf } from './lines.ts';
import { atOnce, inSlices, type Steps } from './slices.ts';

export type ReferenceKind = 'user' | 'issue' | 'merge_request' | 'label' | 'milestone' | 'epic' | 'snippet' | 'commit';

export interface Reference {
  kind: ReferenceKind;
  /** The full path, or only the last segment, of the project or group that it names; undefined for that of the text. */
  path: string | undefined;
  /** A number for issues, merge requests, epics and snippets; a number or a title for labels and milestones; a name; a commit id. */
  value: string;
  /** Its offset in the text, in UTF-16 units. */
  start: number;
  end: number;
}

/** An address outside code: in the text, or where a link leads. */
export interface Address {
  text: string;
  /** Its offset in the text, in UTF-16 units. */
  start: number;
}

/** A tag outside code and comments, such as `<img src=a>`. */
export interface TagPlace {
  text: string;
  /** Its offset in the text, in UTF-16 units. */
  start: number;
}

/** The results of reading a text besides its references, each collected if it is given. */
export interface Collected {
  addresses?: Address[];
  tags?: TagPlace[];
}

/** A piece of text being read. */
interface Piece {
  text: string;
  /** Its offset in the whole text. */
  offset: number;
  /** Our own external address: the addresses of its pages are references. */
  url: string | undefined;
  found: Reference[];
  collected: Collected;
}

const maximumPath = 1000;
const word = /[\p{L}\p{N}_./-]+/uy;
const goesOn = /^_{0,3}[\p{L}\p{N}]/u;
const number = /\d{1,10}/y;
const name = /[A-Za-z0-9_.][A-Za-z0-9_./-]*/y;
const commit = /[0-9a-f]{7,40}/y;
const quoted = /"[^"\n]+"/y;
const labelTitle = /[\p{L}\p{N}_.&?:-]+/uy;
const milestoneTitle = /[\p{L}\p{N}_.-]+/uy;
const address = /https?:\/\/[^\s<>"`]+/iy;
const destination = /\]\([ \t]*[^\s()<>]*/y;
const tag = /<\/?[a-zA-Z][a-zA-Z0-9-]*(?=[\s/>])[^<>]*>/y;
const entity = /&#?[a-zA-Z0-9]{1,31};/y;
const segment = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/;

/** The match of a pattern at a position, if any. */
function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** A text without trailing marks that end a sentence rather than a name. */
function withoutLast(text: string, marks: string): string {
  let end = text.length;
  while (end > 0 && marks.includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

/** Whether a name or number can end at a position: no letter follows, but emphasis marks may. */
const endsAt = (text: string, at: number) => !goesOn.test(text.slice(at, at + 5));

const isPath = (text: string) => text.length <= maximumPath && text.split('/').every((part) => segment.test(part));

/** The value of a reference after its mark, and its length; undefined if there is none. */
type ReadValue = (text: string, at: number) => { value: string; length: number } | undefined;

const plain = (pattern: RegExp): ReadValue => {
  return (text, at) => {
    const value = matchAt(pattern, text, at);
    return value !== '' && endsAt(text, at + value.length) ? { value, length: value.length } : undefined;
  };
};

const title = (pattern: RegExp): ReadValue => {
  return (text, at) => {
    const inQuotes = matchAt(quoted, text, at);
    if (inQuotes !== '') return { value: inQuotes.slice(1, -1), length: inQuotes.length };
    const value = withoutLast(matchAt(pattern, text, at), '.?:-&');
    return value === '' ? undefined : { value, length: value.length };
  };
};

const readName: ReadValue = (text, at) => {
  const value = withoutLast(matchAt(name, text, at), './-');
  return value !== '' && endsAt(text, at + value.length) ? { value, length: value.length } : undefined;
};

/** The kind of each sigil. */
const kinds: Readonly<Record<string, { kind: ReferenceKind; read: ReadValue }>> = {
  '#': { kind: 'issue', read: plain(number) },
  '!': { kind: 'merge_request', read: plain(number) },
  '&': { kind: 'epic', read: plain(number) },
  $: { kind: 'snippet', read: plain(number) },
  '~': { kind: 'label', read: title(labelTitle) },
  '%': { kind: 'milestone', read: title(milestoneTitle) },
};

function add(piece: Piece, reference: Reference): number {
  const { offset } = piece;
  piece.found.push({ ...reference, start: reference.start + offset, end: reference.end + offset });
  return reference.end;
}

/** Reads a possible reference whose mark is at `at`, with or without a path before it. */
function readMarked(piece: Piece, at: number, path: string | undefined): number {
  const { text } = piece;
  const mark = text[at]!;
  const { kind, read } =
    mark !== '@'
      ? kinds[mark]!
      : path === undefined
        ? { kind: 'user' as const, read: readName }
        : { kind: 'commit' as const, read: plain(commit) };
  const value = read(text, at + 1);
  if (!value) return at + 1;
  return add(piece, { kind, path, value: value.value, start: at - (path?.length ?? 0), end: at + 1 + value.length });
}

/** The kinds of references in our own addresses, by the word after `/-/`. */
const pages: Readonly<Record<string, ReferenceKind>> = {
  issues: 'issue',
  work_items: 'issue',
  merge_requests: 'merge_request',
  epics: 'epic',
  snippets: 'snippet',
  commit: 'commit',
};

/** Reads a whole address, which is a reference if it is one of ours. */
function readAddress(piece: Piece, at: number, whole: string): number {
  const end = at + whole.length;
  piece.collected.addresses?.push({ text: whole, start: at + piece.offset });
  if (piece.url === undefined || !whole.startsWith(`${piece.url}/`)) return end;
  const below = whole.slice(piece.url.length + 1);
  const split = below.indexOf('/-/');
  const [page = '', rest = ''] = split === -1 ? [] : below.slice(split + 3, split + 100).split('/');
  const kind = Object.hasOwn(pages, page) ? pages[page]! : undefined;
  const place = below.slice(0, split);
  const path = place.startsWith('groups/') && kind === 'epic' ? place.slice('groups/'.length) : place;
  const value = kind === undefined ? '' : matchAt(kind === 'commit' ? commit : number, rest, 0);
  if (kind !== undefined && value !== '' && endsAt(rest, value.length) && isPath(path))
    add(piece, { kind, path, value, start: at, end });
  return end;
}

/** Reads a run of letters, digits and other characters of paths: a path before a mark, a commit id, or just words. */
function readWord(piece: Piece, at: number): number {
  const { text } = piece;
  const whole = matchAt(address, text, at);
  if (whole !== '') return readAddress(piece, at, whole);
  const run = matchAt(word, text, at);
  const end = at + run.length;
  const mark = text[end];
  const isMarked = mark !== undefined && (mark === '@' || Object.hasOwn(kinds, mark));
  if (!isMarked) {
    const id = withoutLast(run, './-');
    if (id.length <= 40 && matchAt(commit, id, 0) === id && id !== '')
      add(piece, { kind: 'commit', path: undefined, value: id, start: at, end: at + id.length });
    return end;
  }
  // A run that ends in a mark, such as `fix/#1`, is no path. After a letter, an `@` belongs to a mail address.
  if (/^_+$|[./-]$/.test(run.slice(-maximumPath))) return mark === '@' ? end + 1 : readMarked(piece, end, undefined);
  if (!isPath(run)) return end + 1;
  return readMarked(piece, end, run);
}

/** The ends of the runs of backticks that close code, by the runs of the same length that open it. */
function* codeEnds(text: string): Steps<Map<number, number>> {
  const runs: { index: number; length: number }[] = [];
  for (const { index, 0: run } of text.matchAll(/`+/g)) {
    yield;
    runs.push({ index, length: run.length });
  }
  const ends = new Map<number, number>();
  const next = new Map<number, number>();
  for (const { index, length } of runs.reverse()) {
    yield;
    const closing = next.get(length);
    if (closing !== undefined) ends.set(index, closing + length);
    next.set(length, index);
  }
  return ends;
}

/** Reads from a position that is not in a word. */
function readMark(
  piece: Piece,
  at: number,
  ends: ReadonlyMap<number, number>,
  commentEnd: (from: number) => number,
): number {
  const { text } = piece;
  switch (text[at]) {
    case '\\':
      return at + 2;
    case '`':
      return ends.get(at) ?? at + matchAt(/`+/y, text, at).length;
    case '<': {
      if (text.startsWith('<!--', at)) return commentEnd(at + 4);
      const whole = matchAt(tag, text, at);
      if (whole !== '') piece.collected.tags?.push({ text: whole, start: at + piece.offset });
      return at + (whole.length || 1);
    }
    case ']': {
      const target = matchAt(destination, text, at);
      const own = target.slice(2).trimStart();
      const start = at + target.length - own.length;
      if (own !== '' && matchAt(address, own, 0) === own) readAddress(piece, start, own);
      else if (own !== '') piece.collected.addresses?.push({ text: own, start: start + piece.offset });
      return at + (target.length || 1);
    }
    case '&': {
      const length = matchAt(entity, text, at).length;
      return length > 0 ? at + length : readMarked(piece, at, undefined);
    }
    case '~':
      // Two of them strike text through.
      return text[at + 1] === '~' ? at + 2 : readMarked(piece, at, undefined);
    default:
      return readMarked(piece, at, undefined);
  }
}

const beginning = /[\p{L}\p{N}_./\\`<\]@#!&$~%-]/gu;

/** Reads a piece of text that has no code blocks. */
function* readPiece(piece: Piece): Steps<void> {
  const { text } = piece;
  const ends = text.includes('`') ? yield* codeEnds(text) : new Map<number, number>();
  const lastCommentEnd = text.lastIndexOf('-->');
  const commentEnd = (from: number) => (from > lastCommentEnd ? from : text.indexOf('-->', from) + 3);
  for (let at = 0; at < text.length; ) {
    yield;
    beginning.lastIndex = at;
    const next = beginning.exec(text);
    if (!next) return;
    at = next.index;
    at = matchAt(word, text, at) === '' ? readMark(piece, at, ends, commentEnd) : readWord(piece, at);
  }
}

/**
 * The references in a plain text.
 * @param url as for `referencesIn`
 */
export function referencesInPlain(text: string, url?: string): Reference[] {
  const found: Reference[] = [];
  atOnce(readPiece({ text, offset: 0, url, found, collected: {} }));
  return found;
}

/**
 * The references in a Markdown text, in order, except in code, comments and other addresses.
 * @param url our own external address without a trailing slash: addresses of issues etc. below it are references too
 */
export const referencesIn = (text: string, url?: string): Promise<Reference[]> => inSlices(readText(text, url));

/** `referencesIn` as steps: paragraphs, headings and other blocks are read one by one, because inline marks cannot leave them. */
export function* readText(text: string, url: string | undefined, collected: Collected = {}): Steps<Reference[]> {
  const found: Reference[] = [];
  let open: { start: number; end: number } | undefined;
  const readBlock = function* (): Steps<void> {
    if (open) yield* readPiece({ text: text.slice(open.start, open.end), offset: open.start, url, found, collected });
    open = undefined;
  };
  for (const { in_code, continues, start, text: line } of linesOf(text)) {
    yield; // At each line: a block may have all lines of a text, and code has no block.
    if (in_code || !continues) yield* readBlock();
    if (!in_code) open = { start: open?.start ?? start, end: start + line.length };
  }
  yield* readBlock();
  return found;
}
