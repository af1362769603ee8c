/** The changes of a file as a table: one column of code, or the two sides beside each other. */
import { nextTurn } from '../../../foundation/loop_turns.ts';
import { type Content, type Html, html, sanitised } from '../../../pages/index.ts';
import { counted, escapeHtml } from '../../../texts/index.ts';
import type { Colours } from './colour_queries.ts';
import type { FileMarks, Said } from './definition.ts';
import { type Block, blocksOf, type DiffLine, type Hunk } from './hunk_rules.ts';
import { changedWords, type Range, withRanges } from './word_rules.ts';

export interface TableParts {
  path: string;
  hunks: readonly Hunk[];
  colours: Colours;
  isParallel: boolean;
  /** Links to more of the lines around the hunks, if they can be shown. */
  more: Content;
  /** Whether lines may follow the last hunk. */
  hasMoreBelow: boolean;
  commentAt: ((line: DiffLine) => string) | undefined;
  said: Said | undefined;
  marks: FileMarks | undefined;
}

/** The rest of a longer line is cut off. */
const lineEnd_chars = 2_000;

/** The text of a line, with its colours and the words that differ. */
function codeOf(line: DiffLine, colours: Colours, ranges: readonly Range[] = []): Content {
  const { text, kind } = line;
  if (text.length > lineEnd_chars)
    return html`${text.slice(0, lineEnd_chars)}<span class="soft"> … ${counted(text.length - lineEnd_chars, 'more character')}</span>`;
  return sanitised(withRanges(colours(line) ?? escapeHtml(text), ranges, kind === 'added' ? 'ins' : 'del'));
}

/** The number of lines per slice; other requests are served between slices. */
const slice_lines = 200;

class Table {
  readonly #parts: TableParts;
  readonly #columns: number;

  constructor(parts: TableParts) {
    this.#parts = parts;
    this.#columns = parts.isParallel ? 4 : 3;
  }

  /** A row across all columns. */
  #across(kind: string, content: Content): Html {
    return html`<tr class="${kind}"><td colspan="${this.#columns}">${content}\n`;
  }

  #number(line: DiffLine, number: number | undefined): Content {
    const link = number === undefined ? undefined : this.#parts.commentAt?.(line);
    return link ? html`<a href="${link}">${number}</a>` : number;
  }

  /** What belongs below a row: remarks of git, and comments. */
  #below(lines: readonly (DiffLine | undefined)[]): Html[] {
    const { said } = this.#parts;
    return lines.flatMap((line) => {
      if (!line) return [];
      const content = said?.at(line);
      return [
        ...(line.remark === undefined ? [] : [this.#across('remark', line.remark)]),
        ...(content ? [this.#across('said', content)] : []),
      ];
    });
  }

  /**
   * A row of the table with one column of code. End tags are omitted, as HTML allows: a diff has tens of thousands. Added and removed lines are marked by the style, also for
   * screen readers, so that copied text contains only code.
   */
  #line(line: DiffLine, ranges?: readonly Range[]): Html[] {
    const { kind } = line;
    const code = codeOf(line, this.#parts.colours, ranges);
    const numbers =
      kind === 'same'
        ? html`<td>${line.old}<td>${this.#number(line, line.new)}`
        : html`<td>${this.#number(line, line.old)}<td>${this.#number(line, line.new)}`;
    return [
      html`<tr ?class="${kind !== 'same' && kind}">${numbers}<td>${code}${this.#marks(line)}\n`,
      ...this.#below([line]),
    ];
  }

  /** The marks of a line after the changes. */
  #marks({ new: number }: DiffLine): Content {
    return number === undefined ? undefined : this.#parts.marks?.at(number);
  }

  /** One side of a row with both. */
  #side(line: DiffLine | undefined, number: number | undefined, ranges?: readonly Range[]): Html {
    if (!line) return html`<td class="none"><td class="none">`;
    const kind = line.kind !== 'same' && line.kind;
    return html`<td ?class="${kind}">${this.#number(line, number)}<td ?class="${kind}">${codeOf(line, this.#parts.colours, ranges)}${number === line.new && this.#marks(line)}`;
  }

  *#inline({ removed, added }: { removed: DiffLine[]; added: DiffLine[] }): Generator<Html[]> {
    const changes = new Map<DiffLine, readonly Range[]>();
    for (const [index, line] of removed.entries()) {
      const other = added[index];
      const words = other && changedWords(line.text, other.text);
      if (words) changes.set(other, words.new);
      yield this.#line(line, words?.old);
    }
    for (const line of added) yield this.#line(line, changes.get(line));
  }

  *#beside({ removed, added }: { removed: DiffLine[]; added: DiffLine[] }): Generator<Html[]> {
    for (let index = 0; index < Math.max(removed.length, added.length); index++) {
      const [before, after] = [removed[index], added[index]];
      const words = before && after && changedWords(before.text, after.text);
      yield [
        html`<tr>${this.#side(before, before?.old, words?.old)}${this.#side(after, after?.new, words?.new)}\n`,
        ...this.#below([before, after]),
      ];
    }
  }

  *#block(block: Block): Generator<Html[]> {
    const { isParallel } = this.#parts;
    if (!('same' in block)) yield* isParallel ? this.#beside(block) : this.#inline(block);
    else if (!isParallel) yield this.#line(block.same);
    else {
      const { same } = block;
      yield [html`<tr>${this.#side(same, same.old)}${this.#side(same, same.new)}\n`, ...this.#below([same])];
    }
  }

  /** The row between two hunks: the function around the second one, and the way to the lines between. */
  #gap(title: string): Html {
    return this.#across('hunk', html`${this.#parts.more}${title === '' && !this.#parts.more ? '…' : title}`);
  }

  *rows(): Generator<Html[]> {
    const { hunks, hasMoreBelow, more } = this.#parts;
    for (const [index, { title, lines }] of hunks.entries()) {
      const first = lines[0];
      const isTop = index === 0 && (first?.new ?? 1) <= 1 && (first?.old ?? 1) <= 1;
      if (!isTop) yield [this.#gap(title)];
      for (const block of blocksOf(lines)) yield* this.#block(block);
    }
    if (hasMoreBelow && more) yield [this.#gap('')];
  }
}

/** A table in pieces, between which others are served. */
export async function* tableOf(parts: TableParts): AsyncGenerator<Html> {
  const { path, isParallel, commentAt } = parts;
  // A caption that is not shown would be a row for browsers, by which they measure the columns.
  const label = `Changes with line numbers before and after${commentAt ? ', which lead to a comment on the line' : ''}`;
  yield html`<section class="scroll" tabindex="0" aria-label="${`Changes of ${path}`}"><table class="${isParallel ? 'diff two' : 'diff'}" aria-label="${label}">
`;
  let rows: Html[] = [];
  for (const more of new Table(parts).rows()) {
    rows.push(...more);
    if (rows.length < slice_lines) continue;
    yield html`${rows}`;
    rows = [];
    await nextTurn();
  }
  yield html`${rows}</table></section>`;
}
