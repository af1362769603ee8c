/** The form of a snippet: the fields of its files, and what a filled in form does to them. */
import { invalid, type Values } from '../../../http/index.ts';
import { type Field, hidden, isTicked, textIn } from '../../../pages/index.ts';
import { withLineEndsOf } from '../file_editing/rules.ts';
import type { SnippetFile } from './file_queries.ts';

/** The most files that a snippet has. */
export const mostFiles = 10;

/** The fields of one file. @param file undefined for a new one */
function fieldsOfFile(index: number, file: SnippetFile | undefined, isRequired: boolean): Field[] {
  const name = file?.path ?? 'New file';
  return [
    {
      name: `path_${index}`,
      label: file ? `Name of ${name}` : 'Name of the file',
      value: file?.path,
      refused_as: [`files[${index}][file_path]`],
      help: 'Its ending says the language.',
      ...(isRequired && { is_required: true as const }),
    },
    ...(file && file.text === undefined
      ? []
      : [
          {
            name: `content_${index}`,
            label: file ? `Content of ${name}` : 'Content',
            kind: 'area' as const,
            rows: 12,
            value: file?.text,
            code_of: file?.path ?? 'snippet.txt',
            refused_as: [`files[${index}][content]`],
            ...(isRequired && { is_required: true as const }),
          },
        ]),
    ...(file
      ? [
          hidden(`previous_${index}`, file.path),
          { name: `remove_${index}`, label: `Delete ${name}`, kind: 'checkbox' as const },
        ]
      : []),
  ];
}

/**
 * The fields of the files that there are, and of some new ones.
 * @param asked how many new files there is room for
 */
export function fileFields(files: readonly SnippetFile[], asked: number): Field[] {
  const room = Math.min(mostFiles - files.length, asked);
  const added = Array.from({ length: room }, (_, index) =>
    fieldsOfFile(files.length + index, undefined, files.length + index === 0),
  );
  // Files that the form does not show come last: as long as they stay, nothing is done to them, and refusals count what is done.
  const ordered = files.toSorted((one, other) => Number(one.text === undefined) - Number(other.text === undefined));
  return [...ordered.flatMap((file, index) => fieldsOfFile(index, file, true)), ...added.flat()];
}

/** A text of a form; long ones come as bytes. */
const contentIn = (value: unknown): string =>
  withLineEndsOf(undefined, value instanceof Uint8Array ? new TextDecoder().decode(value) : String(value ?? ''));

/** What was typed, as texts. */
export const typedTexts = (fields: Values): Values =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value instanceof Uint8Array ? contentIn(value) : value]),
  );

/** What is done to the files, in the order of their fields, by which refusals name them. @throws ApiError 400 */
export function filesIn(fields: Values, isNew: boolean): Values[] {
  const changes: Values[] = [];
  const reasons: Record<string, string[]> = {};
  for (let index = 0; index < mostFiles; index++) {
    const [path, previous_path] = [textIn(fields, `path_${index}`), textIn(fields, `previous_${index}`)];
    const content = fields[`content_${index}`] === undefined ? undefined : contentIn(fields[`content_${index}`]);
    if (previous_path === undefined && path === undefined && (content ?? '') === '') {
      if (index === 0 && isNew) reasons.path_0 = ['is missing'];
      continue;
    }
    if (content?.includes('\0')) reasons[`content_${index}`] = ['is invalid'];
    if (content !== undefined && content.trim() === '' && !isTicked(fields, `remove_${index}`))
      reasons[`content_${index}`] = ["can't be blank"];
    if (path === undefined) reasons[`path_${index}`] = ['is missing'];
    else if (path.includes('\0')) reasons[`path_${index}`] = ['is invalid'];
    const change = changeOf({ path, previous_path, content, isRemoved: isTicked(fields, `remove_${index}`), isNew });
    if (change) changes.push(change);
  }
  if (Object.keys(reasons).length > 0) throw invalid(reasons);
  return changes;
}

interface FilledIn {
  path: string | undefined;
  previous_path: string | undefined;
  content: string | undefined;
  isRemoved: boolean;
  isNew: boolean;
}

/** @returns undefined for a file that stays as it is, such as one that the form does not show */
function changeOf({ path, previous_path, content, isRemoved, isNew }: FilledIn): Values | undefined {
  if (isNew) return { file_path: path, content };
  if (previous_path === undefined) return { action: 'create', file_path: path, content };
  if (isRemoved) return { action: 'delete', file_path: previous_path };
  const given = content === undefined ? {} : { content };
  if (path !== previous_path) return { action: 'move', previous_path, file_path: path, ...given };
  return content === undefined ? undefined : { action: 'update', file_path: path, content };
}
