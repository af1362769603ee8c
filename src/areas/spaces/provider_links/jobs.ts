/** Asking directories about the people of linked groups, each hour and when an Owner asks for it (docs/reference/group_links.md#memberships). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import type { Database } from '../../../db/index.ts';
import { job } from '../../../jobs/index.ts';
import { checkIfThere, providerNamed } from '../../people/providers/index.ts';
import { settleForgotten } from './settling_actions.ts';

async function linkedProviders(db: Database): Promise<string[]> {
  const { rows } = await sql<{ provider: string }>`
    select distinct provider from ldap_group_links order by provider`.execute(db);
  return rows.map(({ provider }) => provider);
}

export const syncGroupLinks = job('sync_group_links', {
  input: {},
  retries: 0,
  schedule: '22 * * * *',
  async run(services) {
    for (const name of await linkedProviders(services.db)) {
      const provider = providerNamed(services, name);
      if (provider?.type === 'ldap') await checkIfThere(services, provider, { active: false, due: true });
    }
    await settleForgotten(services.db, services.signal);
  },
});

export const syncLinkedDirectory = job('sync_linked_directory', {
  input: { provider: Type.String() },
  retries: 0,
  async run(services) {
    const provider = providerNamed(services, services.input.provider);
    if (provider?.type === 'ldap') await checkIfThere(services, provider, { active: false, due: false });
  },
});
