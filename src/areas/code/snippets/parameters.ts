/** Parameters of snippets, and their conversion to file actions. */
import { type Static, type TObject, Type } from 'typebox';
import type { Snippet } from '../../../access/index.ts';
import {
  AnyText,
  allOptional,
  atLeastOneOf,
  badRequest,
  deprecated,
  exactlyOneOf,
  longText,
  mutuallyExclusive,
  NotBlank,
  notEmpty,
  nullable,
  optional,
  type Rule,
  refusedAs,
  Visibility,
} from '../../../http/index.ts';
import { mapInSlices } from '../../../markdown/index.ts';
import type { FileAction } from '../repository/commits/file_actions.ts';
import { contentIn } from '../repository/rules.ts';
import { actionsOf, actionsOnOnlyFile, type FileChange } from './rules.ts';

/** No component is `..`, and the first one is not empty. */
const validPath = '^(?!/)(?![^]*(?<![^/\\\\])\\.\\.(?![^/\\\\]))[^]*$';
const isValidPath = 'should be a valid file path';

/** More changes than files in a snippet, because some may delete or move files. */
const maximumChanges = 100;

const Content = () => AnyText({ notBlank: true });
const FilePath = (description: string) =>
  notEmpty(refusedAs(isValidPath, NotBlank({ pattern: validPath, description })));
const fields = {
  description: nullable(longText(Type.String({ description: 'At most 1 MiB' }))),
  visibility: Visibility,
};
const oldNames = () => ({
  content: deprecated('use `files`', notEmpty(Content())),
  file_name: deprecated('use `files`', FilePath('')),
});

const NewFile = Type.Object({ file_path: FilePath('Path of the file'), content: notEmpty(Content()) });

export const newSnippet = {
  title: NotBlank({ description: 'At most 255 characters' }),
  ...allOptional(fields),
  files: optional(Type.Array(NewFile, { maxItems: maximumChanges, description: 'At most 10' })),
  ...allOptional(oldNames()),
};

const withName: Rule = (given) =>
  given.has('content') && !given.has('file_name') ? 'file_name is missing' : undefined;

export const newSnippetRules = [exactlyOneOf('files', 'content'), withName];

const Change = Type.Object({
  action: Type.Enum(['create', 'update', 'delete', 'move']),
  file_path: optional(
    refusedAs(
      isValidPath,
      Type.String({
        pattern: validPath,
        description: 'Path of the file; a new file without one is named `snippetfile1.txt` and so on',
      }),
    ),
  ),
  previous_path: optional(
    refusedAs(isValidPath, Type.String({ pattern: validPath, description: 'For `move`: the path before' })),
  ),
  content: optional(notEmpty(Content())),
});

const changes = {
  title: NotBlank({ description: 'At most 255 characters' }),
  ...fields,
  files: Type.Array(Change, { maxItems: maximumChanges }),
  ...oldNames(),
};

export const snippetChanges = allOptional(changes);

export const snippetChangeRules = [
  mutuallyExclusive('files', 'content'),
  mutuallyExclusive('files', 'file_name'),
  atLeastOneOf('content', 'description', 'files', 'file_name', 'title', 'visibility'),
];

const bytesOf = (name: string, content: string | Uint8Array | undefined) =>
  content === undefined ? undefined : contentIn(name, content, 'text');

/** The files of a new snippet as actions. */
export async function actionsFromNew({
  files,
  content,
  file_name = '',
}: Static<TObject<typeof newSnippet>>): Promise<FileAction[]> {
  const given = files ?? [{ file_path: file_name, content: content! }];
  return mapInSlices(given, async (file, index) => ({
    action: 'create' as const,
    file_path: file.file_path,
    content: await contentIn(`files[${index}][content]`, file.content, 'text'),
  }));
}

/** The refusal of deprecated parameters for snippets with several files. */
export const severalFiles = 'To update Snippets with multiple files, you must use the `files` parameter';

/**
 * The changes of a snippet's files as actions; none if the files do not change.
 * @throws ApiError 400 for deprecated parameters with several files, 422 for a member of `files` that lacks a value that its action needs
 */
export async function actionsFromChanges(
  { paths }: Pick<Snippet, 'paths'>,
  { files, content, file_name }: Pick<Static<TObject<typeof snippetChanges>>, 'files' | 'content' | 'file_name'>,
): Promise<FileAction[]> {
  if (files) {
    const given = await mapInSlices(
      files,
      async (file, index): Promise<FileChange> => ({
        ...file,
        content: await bytesOf(`files[${index}][content]`, file.content),
      }),
    );
    return actionsOf(given, paths);
  }
  if (content === undefined && file_name === undefined) return [];
  if (paths.length > 1) throw badRequest(severalFiles);
  return actionsOnOnlyFile(paths[0]!, { file_name, content: await bytesOf('content', content) });
}
