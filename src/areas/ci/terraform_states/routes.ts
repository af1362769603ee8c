/** Listing states of Terraform, and their versions (docs/reference/terraform_states.md). */
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { type AnyEndpoint, bytes, del, found, get, nothing, pageOf } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { stateReader, stateWriter } from './access.ts';
import { TerraformState } from './present.ts';
import { contentOf, stateNamed, statesOf, versionOf } from './queries.ts';

const versionPath = '/projects/:id/terraform/state/:name/versions/:serial';
const single = {
  name: Type.String({ description: 'Of the state', maxLength: 255 }),
  serial: Type.Integer({ description: 'Of the version', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
};
const missing = { 404: '404 Not found' };

export const terraformStateRoutes: readonly AnyEndpoint[] = [
  get('/projects/:id/terraform/states', {
    operation: 'listTerraformStates',
    summary: 'List the states of Terraform of a project, by name',
    access: stateReader,
    input: paging,
    returns: pageOf(TerraformState),
    handle: async ({ db, project, input }) => {
      const page = await paginate(db, statesOf(db, project.id).orderBy('name').orderBy('id'), input);
      return mapPage(page, ({ newest, name, lock, locked_by, updated_at }) => ({
        ...{ name, serial: newest?.serial ?? null, size: newest?.size ?? null },
        ...{ locked_by, lock, updated_at, job_id: newest?.job_id ?? null },
      }));
    },
  }),
  get(versionPath, {
    operation: 'getTerraformStateVersion',
    summary: 'Download a version of a state of Terraform',
    access: stateReader,
    input: single,
    returns: bytes(['application/octet-stream']),
    holds_secrets: true,
    refusals: missing,
    handle: async ({ db, blobs, secrets, project, input }) => {
      const { id } = await stateNamed(db, project.id, input.name);
      const content = await contentOf({ blobs, secrets }, found(undefined, await versionOf(db, id, input.serial)));
      return {
        headers: { 'content-type': 'application/octet-stream', 'content-length': String(content.length) },
        body: Readable.from([content]),
      };
    },
  }),
  del(versionPath, {
    operation: 'deleteTerraformStateVersion',
    summary: 'Delete a version of a state of Terraform',
    access: stateWriter,
    input: single,
    returns: nothing,
    refusals: missing,
    handle: async ({ db, project, input }) => {
      const state = await stateNamed(db, project.id, input.name);
      const { id } = found(undefined, await versionOf(db, state.id, input.serial));
      await db.deleteFrom('terraform_versions').where('id', '=', id).execute();
    },
  }),
];
