/** Counts rows of lists by state. */
import { sql } from 'kysely';
import { customPlan, type Database } from '../../../db/index.ts';
import { countingEach, isRead, listNamed, type Selection } from '../../../lists/index.ts';

interface StateCounts {
  all: number;
  closed: number;
  opened: number;
}

const countEach = countingEach<StateCounts>(({ all: total }) => total);

/** The number of rows in each state. */
export async function countByState(db: Database, selection: Selection): Promise<StateCounts> {
  const counting = sql<Omit<StateCounts, 'all'>>`${customPlan}
    select count(*) filter (where state = 'opened') as opened, count(*) filter (where state = 'closed') as closed
      from ${sql.table(selection.kind.table)} where ${isRead(selection)}`;
  const [counts] = await countEach(
    db,
    [counting],
    () => listNamed(counting.compile(db)),
    async () => {
      const { opened, closed } = (await counting.execute(db)).rows[0]!;
      return [{ all: opened + closed, closed, opened }];
    },
  );
  return counts!;
}
