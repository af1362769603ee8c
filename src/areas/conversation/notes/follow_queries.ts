/** Following positions from one version of a diff to the next (docs/reference/merge_requests.md#threads-follow-the-code). */
import type { ChangedFile, Repository } from '../../../git/index.ts';
import { filesIn, patchOf, type Refs, type Sides } from './diff_git.ts';
import { type CountedLine, type DiffLine, lineCode, linesIn, movedLines } from './diff_rules.ts';
import type { LineOfRange, LineRange, Position } from './position_rules.ts';

/** The changes of the files on one side of a diff. */
interface Change {
  sides: Sides;
  by_path: ReadonlyMap<string, ChangedFile>;
}

/** Two versions of a diff. */
interface Step {
  refs: Refs;
  /** The changes from one base to the other, and from head to head. */
  olds: Change;
  news: Change;
  /** The diff of the second version. */
  sides: Sides;
  files: { by_path: ReadonlyMap<string, ChangedFile>; by_old_path: ReadonlyMap<string, ChangedFile> };
}

async function changeBetween(repository: Repository, from: string, to: string): Promise<Change> {
  const sides = { repository, from, to };
  const files = from === to ? [] : await filesIn(sides);
  const before = files.filter(({ status }) => status !== 'added');
  return { sides, by_path: new Map(before.map((file) => [file.old_path, file])) };
}

async function stepBetween(repository: Repository, from: Refs, to: Refs): Promise<Step> {
  const sides = { repository, from: to.base_sha, to: to.head_sha };
  const [olds, news, files] = await Promise.all([
    changeBetween(repository, from.base_sha, to.base_sha),
    changeBetween(repository, from.head_sha, to.head_sha),
    filesIn(sides),
  ]);
  const by_path = new Map(files.map((file) => [file.path, file]));
  const by_old_path = new Map(files.map((file) => [file.old_path, file]));
  return { refs: to, olds, news, sides, files: { by_path, by_old_path } };
}

/** The new path of a file and the new numbers of some of its lines after a change. */
interface Moved {
  /** Undefined if the file was deleted. */
  path: string | undefined;
  isSame: boolean;
  lines: ReadonlyMap<number, number>;
}

async function movedIn(
  { sides, by_path }: Change,
  path: string,
  wanted: readonly (number | undefined)[],
): Promise<Moved> {
  const lines = wanted.filter((line) => line !== undefined);
  const file = by_path.get(path);
  if (!file) return { path, isSame: true, lines: movedLines('', lines) };
  if (file.status === 'deleted') return { path: undefined, isSame: false, lines: new Map() };
  const { hunks, state } = lines.length === 0 ? { hunks: '', state: 'whole' } : await patchOf(sides, file);
  // In a binary or heavily changed file, no line can be mapped.
  const moved = state === 'whole' ? movedLines(hunks, lines) : new Map<number, number>();
  return { path: file.path, isSame: file.old_id === file.id, lines: moved };
}

/** Maps lines of files in one commit to another. */
export async function movedBetween(repository: Repository, from: string, to: string) {
  const change = await changeBetween(repository, from, to);
  return (path: string, lines: readonly number[]): Promise<Moved> => movedIn(change, path, lines);
}

/** The line numbers at the end of a line code. */
function numbersIn({ line_code }: LineOfRange): DiffLine {
  const [, old_line, new_line] = /_(\d{1,9})_(\d{1,9})$/.exec(line_code) ?? [];
  return { old_line: Number(old_line) || undefined, new_line: Number(new_line) || undefined };
}

/** The line at one end of a range, on the side where it is mapped. */
function lineAt(end: LineOfRange): DiffLine {
  const { old_line, new_line } = numbersIn(end);
  if (end.type === 'expanded') return { old_line, new_line };
  const isOld =
    end.type === 'old' || (end.type === undefined && end.new_line === undefined && end.old_line !== undefined);
  return isOld || new_line === undefined ? { old_line, new_line: undefined } : { old_line: undefined, new_line };
}

/** All lines in a position. */
const linesOf = ({ old_line, new_line, line_range }: Position): DiffLine[] => [
  { old_line: old_line ?? undefined, new_line: new_line ?? undefined },
  ...(line_range ? [lineAt(line_range.start), lineAt(line_range.end)] : []),
];

/** A file of the second version, with the mapping of lines from the first. */
interface FollowedFile {
  refs: Refs;
  file: ChangedFile;
  olds: Moved;
  news: Moved;
  shown: { by_old_line: ReadonlyMap<number, CountedLine>; by_new_line: ReadonlyMap<number, CountedLine> };
}

/**
 * The line of the second diff for a line of the first: an added or unchanged line is mapped on the new side, a removed
 * one on the old side.
 */
function followLine(
  { file, olds, news, shown }: FollowedFile,
  { old_line, new_line }: DiffLine,
): CountedLine | undefined {
  const [line, moved, path, by_line] =
    new_line === undefined
      ? ([old_line, olds, file.old_path, shown.by_old_line] as const)
      : ([new_line, news, file.path, shown.by_new_line] as const);
  const now = line === undefined || moved.path !== path ? undefined : moved.lines.get(line);
  return now === undefined ? undefined : by_line.get(now);
}

/** The numbers of a line, without undefined ones. */
const numbersOf = ({ old_line, new_line }: DiffLine) => ({
  ...(old_line === undefined ? {} : { old_line }),
  ...(new_line === undefined ? {} : { new_line }),
});

const typeOf = ({ old_line, new_line }: DiffLine): { type?: 'new' | 'old' } =>
  old_line === undefined ? { type: 'new' } : new_line === undefined ? { type: 'old' } : {};

/** An expanded end is an unchanged line which the diff does not show. */
function followExpanded({ file, olds, news }: FollowedFile, end: LineOfRange): LineOfRange | undefined {
  const before = lineAt(end);
  const old_line = before.old_line && olds.lines.get(before.old_line);
  const new_line = before.new_line && news.lines.get(before.new_line);
  if (!old_line || !new_line) return undefined;
  return { line_code: lineCode(file.path, [old_line, new_line]), type: 'expanded', old_line, new_line };
}

function followEnd(within: FollowedFile, end: LineOfRange): LineOfRange | undefined {
  if (end.type === 'expanded') return followExpanded(within, end);
  const line = followLine(within, lineAt(end));
  return line && { line_code: lineCode(within.file.path, line.at), ...typeOf(line), ...numbersOf(line) };
}

function followRange(within: FollowedFile, range: LineRange): LineRange | undefined {
  const [start, end] = [followEnd(within, range.start), followEnd(within, range.end)];
  return start && end && { start, end };
}

function followPosition(within: FollowedFile, position: Position): Position | undefined {
  const { refs, file, news } = within;
  const common = { ...position, ...refs, old_path: file.old_path, new_path: file.path };
  if (position.position_type === 'file') return common;
  if (position.position_type === 'image') return news.isSame ? common : undefined;
  const [main] = linesOf(position);
  const line = followLine(within, main!);
  const line_range = position.line_range ? followRange(within, position.line_range) : null;
  if (!line || line_range === undefined) return undefined;
  return { ...common, old_line: line.old_line ?? null, new_line: line.new_line ?? null, line_range };
}

function shownIn(hunks: string): FollowedFile['shown'] {
  const [by_old_line, by_new_line] = [new Map<number, CountedLine>(), new Map<number, CountedLine>()];
  for (const line of linesIn(hunks)) {
    if (line.old_line !== undefined) by_old_line.set(line.old_line, line);
    if (line.new_line !== undefined) by_new_line.set(line.new_line, line);
  }
  return { by_old_line, by_new_line };
}

/** Finds in the second version the file of some positions, which are all in the same file. */
async function followFile(step: Step, positions: readonly Position[]): Promise<FollowedFile | undefined> {
  const { old_path, new_path } = positions[0]!;
  const texts = positions.filter(({ position_type }) => position_type === 'text');
  const lines = texts.flatMap(linesOf);
  const [olds, news] = await Promise.all([
    movedIn(
      step.olds,
      old_path ?? '',
      lines.map(({ old_line }) => old_line),
    ),
    movedIn(
      step.news,
      new_path ?? '',
      lines.map(({ new_line }) => new_line),
    ),
  ]);
  const { by_path, by_old_path } = step.files;
  const file = by_path.get(news.path ?? '') ?? by_old_path.get(olds.path ?? '');
  if (!file) return undefined;
  const { hunks } = texts.length === 0 ? { hunks: '' } : await patchOf(step.sides, file);
  return { refs: step.refs, file, olds, news, shown: shownIn(hunks) };
}

/**
 * Maps positions from one version of a diff to another. Each file is compared at most three times, within the limits of
 * diffs.
 * @param positions all refer to the whole diff of the first version
 * @param signal stops between files
 * @returns the new positions in order; undefined if the other version does not show the line
 */
export async function followPositions(
  repository: Repository,
  { from, to }: { from: Refs; to: Refs },
  positions: readonly Position[],
  signal: AbortSignal,
): Promise<(Position | undefined)[]> {
  const step = await stepBetween(repository, from, to);
  const followed = new Map<Position, Position | undefined>();
  for (const group of Map.groupBy(positions, ({ old_path, new_path }) => `${old_path}\0${new_path}`).values()) {
    signal.throwIfAborted();
    const within = await followFile(step, group);
    if (within) for (const position of group) followed.set(position, followPosition(within, position));
  }
  return positions.map((position) => followed.get(position));
}
