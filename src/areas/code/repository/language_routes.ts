/** The languages of a project (groups-projects-members.md). */
import { Type } from 'typebox';
import { codeReader } from '../../../access/index.ts';
import { repositoryOf } from '../../../git/place.ts';
import { get, one } from '../../../http/index.ts';
import { languagesOf } from './language_rules.ts';
import { defaultHead } from './queries.ts';

export const languageRoutes = [
  get('/projects/:id/languages', {
    summary: 'Show the languages that the files of the default branch are written in, with their share in percent',
    access: codeReader,
    returns: one(Type.Record(Type.String(), Type.Number())),
    handle: async ({ project, ...services }) => {
      const repository = repositoryOf(services, project);
      const head = await defaultHead(repository, project);
      return head === undefined ? {} : languagesOf(repository, head);
    },
  }),
];
