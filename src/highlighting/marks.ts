/** Finds the words of a program that are shown in colours, within a time limit. */
import { type StreamParser, StringStream } from '@codemirror/streamparser';
import type { Parser } from '@lezer/common';
import { highlightTree, tagHighlighter, tags } from '@lezer/highlight';

/** A part of a text with its class. */
export interface Mark {
  from: number;
  to: number;
  name: string;
}

/** The classes for keywords, strings, comments, numbers, defined or called names, types, and markup. */
export const highlighter = tagHighlighter([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier, tags.self, tags.null], class: 'k' },
  { tag: [tags.string, tags.regexp, tags.character, tags.attributeValue, tags.escape], class: 's' },
  { tag: [tags.comment, tags.lineComment, tags.blockComment, tags.docComment], class: 'c' },
  { tag: [tags.number, tags.bool, tags.atom, tags.unit, tags.color], class: 'n' },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.macroName], class: 'f' },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.tagName], class: 't' },
  { tag: [tags.meta, tags.annotation, tags.processingInstruction, tags.attributeName, tags.propertyName], class: 'm' },
]);

/** The same for the token names of line parsers. */
const classes: Readonly<Record<string, string>> = {
  keyword: 'k',
  operatorKeyword: 'k',
  builtin: 'k',
  string: 's',
  'string-2': 's',
  regexp: 's',
  inserted: 's',
  comment: 'c',
  number: 'n',
  atom: 'n',
  bool: 'n',
  def: 'f',
  function: 'f',
  type: 't',
  typeName: 't',
  className: 't',
  tag: 't',
  tagName: 't',
  header: 't',
  heading: 't',
  meta: 'm',
  attribute: 'm',
  attributeName: 'm',
  property: 'm',
  propertyName: 'm',
  qualifier: 'm',
  deleted: 'k',
};

/** @param isLate whether the time is over; the rest is not marked */
export function marksByTree(parser: Parser, text: string, isLate: () => boolean): Mark[] {
  const parse = parser.startParse(text);
  let tree = parse.advance();
  while (!tree) {
    if (parse.stoppedAt === null && isLate()) parse.stopAt(parse.parsedPos);
    tree = parse.advance();
  }
  const marks: Mark[] = [];
  highlightTree(tree, highlighter, (from, to, names) => {
    marks.push({ from, to, name: names.split(' ', 1)[0]! });
  });
  return marks;
}

/** A parser may change its state without consuming input, but not forever. */
const mostStill = 10;

function tokenOf<State>(parser: StreamParser<State>, stream: StringStream, state: State): string | null {
  for (let still = 0; still < mostStill; still++) {
    const style = parser.token(stream, state);
    if (stream.pos > stream.start) return style;
  }
  stream.next();
  return null;
}

/** The same with a line parser. */
export function marksByLines(parser: StreamParser<unknown>, text: string, isLate: () => boolean): Mark[] {
  const marks: Mark[] = [];
  const state = parser.startState?.(2) ?? {};
  let start = 0;
  for (const line of text.split('\n')) {
    if (isLate()) break;
    if (line === '') parser.blankLine?.(state, 2);
    const stream = new StringStream(line, 4, 2);
    while (!stream.eol()) {
      stream.start = stream.pos;
      const style = tokenOf(parser, stream, state);
      const word = style?.split(/[ .]/).find((each) => Object.hasOwn(classes, each));
      if (word !== undefined) marks.push({ from: start + stream.start, to: start + stream.pos, name: classes[word]! });
    }
    start += line.length + 1;
  }
  return marks;
}
