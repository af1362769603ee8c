/** The index of code, for administrators (docs/reference/search.md#index). */
import { Type } from 'typebox';
import { admin } from '../../../access/index.ts';
import { accepted, get, Id, notFound, one, optional, post, resource, Timestamp } from '../../../http/index.ts';
import { indexAgain, indexState } from '../../code/code_search/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';

const Failure = Type.Object({ project_id: Type.Integer(), error: Type.String(), failed_at: Timestamp });

const CodeIndex = resource('CodeIndex', {
  enabled: Type.Boolean({ description: 'Whether searches use it' }),
  projects: Type.Integer({ description: 'Those with code' }),
  indexed: Type.Integer({ description: 'Projects whose index is that of their default branch now' }),
  behind: Type.Integer({ description: 'Projects that wait to be indexed' }),
  failed: Type.Integer({ description: 'Projects whose last attempt failed' }),
  bytes: Type.Integer({ description: 'What it takes in the database' }),
  failures: Type.Array(Failure, { description: 'The last 100' }),
});

const maximumFailures = 100;

export const codeIndexRoutes = [
  get('/admin/search/index', {
    operation: 'getCodeIndex',
    summary: 'Show the state of the index of code',
    access: admin,
    returns: one(CodeIndex),
    handle: async ({ db }) => {
      const { code_search } = await settingsOf(db);
      const { projects, indexed, behind, failed, bytes } = await indexState(db);
      const failures = await db
        .selectFrom('code_indexes')
        .select(['project_id', 'error', 'failed_at'])
        .where('failed_at', 'is not', null)
        .orderBy('failed_at', 'desc')
        .limit(maximumFailures)
        .$castTo<{ project_id: number; error: string; failed_at: string }>()
        .execute();
      return {
        enabled: code_search === 'on',
        projects,
        indexed,
        behind,
        failed,
        bytes,
        failures,
      };
    },
  }),
  post('/admin/search/index', {
    operation: 'buildCodeIndex',
    summary: 'Build the index of code again, of a project or of all',
    access: admin,
    input: { project_id: optional(Id) },
    returns: accepted,
    refusals: { 404: '404 Project Not Found' },
    handle: async ({ db, input: { project_id } }) => {
      const again = await indexAgain(db, project_id);
      if (project_id !== undefined && again === 0) throw notFound('Project');
    },
  }),
];
