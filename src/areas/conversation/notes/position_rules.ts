/** Positions: the location in a diff that a comment refers to (docs/reference/discussions.md#positions). */
import { type Static, Type } from 'typebox';
import { invalidAs, nullable, optional } from '../../../http/index.ts';

const Sha = (description: string) => Type.String({ description, maxLength: 64 });
const Path = () => optional(Type.String({ maxLength: 4096 }));
const Line = () => optional(Type.Integer());

/** One end of a range of lines. */
const LineOfRange = Type.Object({
  line_code: Type.String({ maxLength: 255 }),
  type: optional(Type.Enum(['new', 'old', 'expanded'])),
  old_line: Line(),
  new_line: Line(),
});

export type LineOfRange = Static<typeof LineOfRange>;
const LineRange = Type.Object({ start: LineOfRange, end: LineOfRange });
export type LineRange = Static<typeof LineRange>;

/** A position as given by clients. */
export const GivenPosition = Type.Object(
  {
    base_sha: Sha('The parent of the commit; `base_sha` in the `diff_refs` of a merge request'),
    start_sha: Sha('The same; `start_sha` in the `diff_refs`'),
    head_sha: Sha('The commit; `head_sha` in the `diff_refs`'),
    position_type: Type.Enum(['text', 'image', 'file']),
    old_path: Path(),
    new_path: Path(),
    old_line: optional(Type.Integer({ description: 'Line of a text before the change; omitted for an added line' })),
    new_line: optional(Type.Integer({ description: 'Line of a text after the change; omitted for a removed line' })),
    line_range: optional(LineRange),
    width: optional(Type.Integer({ description: 'Of an image' })),
    height: optional(Type.Integer({ description: 'Of an image' })),
    x: optional(Type.Integer({ description: 'Place in an image' })),
    y: optional(Type.Integer({ description: 'Place in an image' })),
  },
  { description: 'The place in the diff that the comment is about' },
);
export type GivenPosition = Static<typeof GivenPosition>;

/** A position in replies. */
export const Position = Type.Object({
  base_sha: Type.String(),
  start_sha: Type.String(),
  head_sha: Type.String(),
  old_path: nullable(Type.String()),
  new_path: nullable(Type.String()),
  position_type: Type.Enum(['text', 'image', 'file']),
  old_line: optional(nullable(Type.Integer())),
  new_line: optional(nullable(Type.Integer())),
  line_range: optional(nullable(LineRange)),
  width: optional(Type.Integer()),
  height: optional(Type.Integer()),
  x: optional(Type.Integer()),
  y: optional(Type.Integer()),
});
export type Position = Static<typeof Position>;

/**
 * The stored part of a position in a file of a diff: the fields of its type.
 * @throws ApiError 400 if one is missing
 */
export function completePosition(
  given: GivenPosition,
  { old_path, path }: { old_path: string; path: string },
): Position {
  const { base_sha, start_sha, head_sha, position_type, old_line, new_line, line_range, width, height, x, y } = given;
  const common = { base_sha, start_sha, head_sha, old_path, new_path: path, position_type };
  if (position_type === 'file') return common;
  if (position_type === 'text')
    return { ...common, old_line: old_line ?? null, new_line: new_line ?? null, line_range: line_range ?? null };
  if (width === undefined || height === undefined || x === undefined || y === undefined) throw incompletePosition();
  return { ...common, width, height, x, y };
}

/** Refusals of positions, with the wording of the reference. */
const refused = (field: string, reasons: string[]) => invalidAs('400 Bad request - Note', { [field]: reasons });
export const incompletePosition = () => refused('position', ['is incomplete']);
export const notInDiff = () => refused('line_code', ["can't be blank", 'must be a valid line code']);

/** The documented refusals of a comment at a position. */
export const positionTexts = [
  '400 Bad request - Note {:position=>["is incomplete"]}',
  '400 Bad request - Note {:line_code=>["can\'t be blank", "must be a valid line code"]}',
];
