/** Where the values are that are encrypted with the secret key. */

export interface SealedColumn {
  table: string;
  column: string;
  /** The primary key of the table, a number. */
  key: 'id' | 'project_id' | 'job_id' | 'user_id';
}

/** What values are sealed for, and their columns. */
export const sealedColumns = {
  'bulk import token': [{ table: 'bulk_imports', column: 'access_token', key: 'id' }],
  'cluster token': [{ table: 'clusters', column: 'token', key: 'id' }],
  'end of a job log': [{ table: 'job_logs', column: 'held_back', key: 'job_id' }],
  'feature flags instance id': [{ table: 'feature_flag_clients', column: 'instance_id', key: 'project_id' }],
  'dotenv variable': [{ table: 'job_dotenv_variables', column: 'value', key: 'id' }],
  'geo credential': [{ table: 'geo_nodes', column: 'credential', key: 'id' }],
  'hook secrets': [{ table: 'hooks', column: 'secrets', key: 'id' }],
  'masked values of a job': [{ table: 'job_runs', column: 'masked_values', key: 'job_id' }],
  'mirror login': [
    { table: 'pull_mirrors', column: 'login', key: 'id' },
    { table: 'remote_mirrors', column: 'login', key: 'id' },
  ],
  'ID token key': [{ table: 'id_token_keys', column: 'private_key', key: 'id' }],
  'job variable': [{ table: 'job_variables', column: 'value', key: 'id' }],
  'pipeline schedule variable': [{ table: 'pipeline_schedule_variables', column: 'value', key: 'id' }],
  'pipeline variable': [{ table: 'pipeline_variables', column: 'value', key: 'id' }],
  'provider message': [{ table: 'provider_messages', column: 'message', key: 'id' }],
  'provider sign-in': [{ table: 'provider_sign_ins', column: 'round', key: 'id' }],
  // In jobs alone.
  'push options': [],
  'secure file key': [{ table: 'secure_files', column: 'content_key', key: 'id' }],
  'terraform state key': [{ table: 'terraform_versions', column: 'content_key', key: 'id' }],
  'TOTP secret': [{ table: 'totp_factors', column: 'secret', key: 'user_id' }],
  'trigger token': [{ table: 'pipeline_triggers', column: 'token', key: 'id' }],
  'variable value': [{ table: 'variables', column: 'value', key: 'id' }],
} as const satisfies Record<string, readonly SealedColumn[]>;

/** A new purpose needs an entry above: the rotation of the secret key encrypts its column anew. */
export type SealedPurpose = keyof typeof sealedColumns;
