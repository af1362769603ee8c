/** Uploaded bills of materials (docs/reference/dependencies.md#documents). */
import { Type } from 'typebox';
import { projectRole } from '../../../access/index.ts';
import { del, File, found, Id, nothing, one, post, resource } from '../../../http/index.ts';
import { maximumListing_bytes } from '../../../lockfiles/index.ts';
import { addDocument, removeDocument, tooLong, tooMany, tooManyWaiting } from './document_actions.ts';

const plan = 'ultimate';
const developer = projectRole('developer');

const DependencyDocument = resource('DependencyDocument', {
  id: Id,
  path: Type.String({ description: 'The name of the file' }),
  count: Type.Integer({ description: 'The packages that it lists' }),
});

export const dependencyDocumentRoutes = [
  post('/projects/:id/dependency_documents', {
    operation: 'createDependencyDocument',
    summary: 'Upload a bill of materials, which is listed with the dependencies of the default branch',
    description: 'CycloneDX 1.4 to 1.6 or SPDX 2.3 in JSON. An earlier document of the same name is replaced.',
    access: developer,
    plan,
    input: { file: File('dependency_documents', maximumListing_bytes) },
    returns: one(DependencyDocument),
    refusals: { 400: [tooMany, tooManyWaiting, tooLong, '<reason why the document cannot be read>'] },
    handle: ({ project, input, ...services }) => addDocument(services, project.id, input.file),
  }),
  del('/projects/:id/dependency_documents/:document_id', {
    operation: 'deleteDependencyDocument',
    summary: 'Delete an uploaded bill of materials with what it lists',
    access: developer,
    plan,
    input: { document_id: Id },
    returns: nothing,
    handle: async ({ db, project, input }) => {
      found(undefined, (await removeDocument(db, project.id, input.document_id)) || undefined);
    },
  }),
];
