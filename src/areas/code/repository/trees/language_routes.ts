/** The languages of a project (docs/reference/repository.md). */
import { Type } from 'typebox';
import { codeReader } from '../../../../access/index.ts';
import { repositoryOf } from '../../../../git/index.ts';
import { get, one } from '../../../../http/index.ts';
import { defaultHead } from '../git.ts';
import { languagesOf } from './language_git.ts';

export const languageRoutes = [
  get('/projects/:id/languages', {
    operation: 'listProjectLanguages',
    summary: 'Get the languages of a project',
    access: codeReader,
    returns: one(Type.Record(Type.String(), Type.Number())),
    handle: async ({ project, ...services }) => {
      const repository = repositoryOf(services, project);
      const head = await defaultHead(repository, project);
      return head === undefined ? {} : languagesOf(repository, head);
    },
  }),
];
