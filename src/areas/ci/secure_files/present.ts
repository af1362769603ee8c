/** How secure files appear in replies (docs/reference/secure_files.md). */
import { Type } from 'typebox';
import { Id, nullable, resource, Timestamp } from '../../../http/index.ts';
import type { SecureFileRow } from './queries.ts';
import { extensionOf, isCertificate } from './rules.ts';

export const SecureFile = resource('SecureFile', {
  id: Id,
  name: Type.String(),
  checksum: Type.String({ description: 'Of the file, in hexadecimal' }),
  checksum_algorithm: Type.Literal('sha256'),
  created_at: Timestamp,
  expires_at: nullable(Timestamp),
  metadata: nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Of a certificate: `id`, `issuer`, `subject` and `expires_at`',
    }),
  ),
  metadata_parsable: Type.Boolean({ description: 'Whether files with this extension are read as certificates' }),
  file_extension: nullable(Type.String()),
});

export const presentSecureFile = ({ id, name, checksum, created_at, expires_at, metadata }: SecureFileRow) => ({
  ...{ id, name, checksum, checksum_algorithm: 'sha256' as const, created_at, expires_at, metadata },
  metadata_parsable: isCertificate(name),
  file_extension: extensionOf(name),
});
