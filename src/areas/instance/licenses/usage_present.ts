/** The usage of the current license as a table (docs/reference/licenses.md). */
import { sql } from 'kysely';
import type { Database } from '../../../db/index.ts';

interface Usage {
  text: string;
  licensee: { Email?: string; Company?: string };
  starts_at: string;
  expires_at: string | null;
  generated_at: string;
  /** Oldest first. */
  days: { recorded_at: string; count: number }[];
}

const moment = 'YYYY-MM-DD HH24:MI:SS';

/**
 * @returns undefined without a current license
 */
async function usageOf(db: Database): Promise<Usage | undefined> {
  const { rows } = await sql<Usage>`
    select text, licensee, starts_at, licenses.expires_at, to_char(now(), ${moment}) as generated_at,
           coalesce((select jsonb_agg(jsonb_build_object('recorded_at', to_char(recorded_at, ${moment}), 'count', highest) order by day)
                       from billable_counts where day >= starts_at and (licenses.expires_at is null or day <= licenses.expires_at)), '[]') as days
      from licenses join current_license using (id)`.execute(db);
  return rows[0];
}

/** A cell, quoted only when necessary. */
const cell = (value: string | number): string =>
  value === '' || /[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);

/**
 * The usage of the current license, as CSV.
 * @returns undefined without a license
 */
export async function usageTable(db: Database): Promise<string | undefined> {
  const usage = await usageOf(db);
  if (!usage) return undefined;
  const rows = [
    ['License Key', usage.text],
    ['Email', usage.licensee.Email ?? ''],
    ['License Start Date', usage.starts_at],
    ['License End Date', usage.expires_at ?? ''],
    ['Company', usage.licensee.Company ?? ''],
    ['Generated At', usage.generated_at],
    ['', ''],
    ['Date', 'Billable User Count'],
    ...usage.days.map(({ recorded_at, count }) => [recorded_at, count]),
  ];
  return rows.map((row) => `${row.map(cell).join(',')}\n`).join('');
}
