/** The parameters of snippets, and how they become file actions. */
import { type Static, type TObject, Type } from 'typebox';
import {
  AnyText,
  allOptional,
  deprecated,
  exactlyOneOf,
  longText,
  NotBlank,
  notEmpty,
  nullable,
  optional,
  type Rule,
  refusedAs,
  Visibility,
} from '../../../http/index.ts';
import { mapInSlices } from '../../../markdown/index.ts';
import { contentIn, type FileAction } from '../repository/index.ts';

/** No component is `..`, and the first one is not empty. */
const validPath = '^(?!/)(?![^]*(?<![^/\\\\])\\.\\.(?![^/\\\\]))[^]*$';
const isValidPath = 'should be a valid file path';

/** More than a snippet can hold, because some may be deleted or moved on the way. */
const maximumChanges = 100;

const Content = () => AnyText({ notBlank: true });
const FilePath = (description: string) => notEmpty(refusedAs(isValidPath, NotBlank({ pattern: validPath, description })));
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

const withName: Rule = (given) => (given.has('content') && !given.has('file_name') ? 'file_name is missing' : undefined);

export const newSnippetRules = [exactlyOneOf('files', 'content'), withName];

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
