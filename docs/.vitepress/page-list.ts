/** The pages of the site in the order of the sidebar, with what the sidebar, the search and other sites show of them. */

export interface Page {
  /** In the sidebar. */
  readonly title: string;
  /** One sentence, for search engines, previews of links and `llms.txt`. */
  readonly description: string;
}

interface Group {
  readonly text: string;
  /** By the name of the page in the site. */
  readonly pages: Readonly<Record<string, Page>>;
}

/** A page whose file does not exist is left out. */
export const GROUPS: readonly Group[] = [
  {
    text: 'Start',
    pages: {
      index: {
        title: 'Quick start',
        description: 'Start caller-stats with sample data, read the first counts and record a question.',
      },
      tutorial: {
        title: 'Tutorial',
        description: 'Connect your own assistant and see its first question in a chart, in ten minutes.',
      },
      dashboard: {
        title: 'The dashboard',
        description:
          'What each page of the dashboard shows: overview, projects, keys, sources, corrections and settings.',
      },
    },
  },
  {
    text: 'How to record',
    pages: {
      record: {
        title: 'Record over HTTP',
        description: 'Record questions with one HTTP request: fields, formats and answers.',
      },
      client: {
        title: 'Clients',
        description:
          'Record and read from JavaScript, TypeScript, Python and Go, with middleware for web frameworks.',
      },
      'not-arriving': {
        title: 'My queries do not arrive',
        description: 'Find out why queries do not arrive: what each sender sees, and each reason.',
      },
      recipes: {
        title: 'Ruby and PHP',
        description: 'Programs in Ruby and PHP that record a question and repeat after errors.',
      },
      'recipes-serverless': {
        title: 'Lambda, Vercel, Cloudflare',
        description: 'Whole programs for AWS Lambda, Vercel and Cloudflare Workers that lose no question.',
      },
      'recipes-logs': {
        title: 'Fluent Bit and Vector',
        description: 'Send a line for each question with a log shipper.',
      },
      opentelemetry: {
        title: 'OpenTelemetry',
        description: 'Count the questions of an assistant that sends OpenTelemetry, without code.',
      },
      'recipes-sdks': {
        title: 'AI SDKs with OpenTelemetry',
        description:
          'Whole programs for the AI SDK, LangChain and OpenAI Agents that are counted by OpenTelemetry.',
      },
      'recipes-python': {
        title: 'Python with OpenTelemetry',
        description:
          'Whole programs for FastAPI, Flask, Django and Celery that are counted by OpenTelemetry.',
      },
      'recipes-java': {
        title: 'Java with OpenTelemetry',
        description: 'A whole program with Spring Boot and Spring AI that is counted by OpenTelemetry.',
      },
      'recipes-go': {
        title: 'Go with OpenTelemetry',
        description: 'Whole programs for net/http and gin that are counted by OpenTelemetry.',
      },
      import: {
        title: 'Import',
        description:
          'Import past questions from files, other systems, access logs and counts, or move from a hosted platform.',
      },
      corrections: {
        title: 'I recorded something wrong',
        description: 'Withdraw or rename queries that were recorded by mistake, and take that back.',
      },
    },
  },
  {
    text: 'How to read',
    pages: {
      changes: {
        title: 'Why did my number change',
        description: 'What has changed a count since an earlier report, by cause, sender and caller.',
      },
      reading: {
        title: 'Read and export',
        description:
          'Read the counts over HTTP, in spreadsheets, Grafana and AI assistants, and export every query.',
      },
      sharing: {
        title: 'Share the counts',
        description:
          'Public, read-only links of a project: with a password, an expiry, or embedded in a page.',
      },
      alerts: {
        title: 'Digest and alerts',
        description:
          'A weekly or monthly digest and alerts by webhook, Slack or e-mail: what is sent, and when.',
      },
    },
  },
  {
    text: 'How to run',
    pages: {
      install: {
        title: 'Install and run',
        description:
          'Install caller-stats as a package, container or service: first keys, checks, and a proxy with TLS.',
      },
      keys: {
        title: 'API keys',
        description:
          'Create, rotate and revoke API keys, also keys that only read, and what each type may do.',
      },
      'sign-in': {
        title: 'Members and sign-in',
        description:
          'The first owner, invitations, roles, passwords, two-factor authentication, single sign-on, audit log.',
      },
      projects: {
        title: 'Projects',
        description: 'Delete projects, set a retention, and change the settings of a project.',
      },
      backup: {
        title: 'Back up and upgrade',
        description: 'Back up and restore the database, and upgrade to a new version.',
      },
      operate: {
        title: 'Monitor',
        description: 'Probes, Prometheus metrics with dashboard and alerts, logs and traces of the server.',
      },
      scaling: {
        title: 'Scale',
        description: 'How much one machine does, what limits first, and how to plan for more.',
      },
      moving: {
        title: 'Move to another database',
        description:
          'Copy projects, keys and queries between SQLite, PostgreSQL and Citus, and prove that nothing is missing.',
      },
      failover: {
        title: 'Standby and failover',
        description: 'Survive the loss of a PostgreSQL server with a standby.',
      },
      citus: {
        title: 'Citus',
        description: 'Spread projects over several PostgreSQL servers with Citus.',
      },
    },
  },
  {
    text: 'Concepts',
    pages: {
      'how-it-works': {
        title: 'How caller-stats works',
        description: 'The data flow of caller-stats on one node and on several, and all of its terms.',
      },
      queries: {
        title: 'Queries and callers',
        description: 'What a query is, what a caller is, and which of the types web, api and other it has.',
      },
      exactness: {
        title: 'Exactness and ids',
        description: 'What you can rely on, why a query counts once, and how to choose its id.',
      },
      time: {
        title: 'Time, ranges and time zones',
        description: 'The time of a query, ranges, periods, time zones, clock changes and comparisons.',
      },
      privacy: {
        title: 'Privacy and GDPR',
        description: 'What is stored and for how long, how to delete it, and requests of data subjects.',
      },
      comparison: {
        title: 'Comparison and questions',
        description:
          'How caller-stats compares with Plausible, Umami, OpenMeter and Langfuse, and short answers to frequent questions.',
      },
    },
  },
  {
    text: 'Reference',
    pages: {
      api: {
        title: 'API',
        description: 'Every operation of the HTTP API with its parameters, bodies and answers.',
      },
      errors: {
        title: 'Errors, retries and overload',
        description:
          'Every status and its cause, when to repeat a request, what a busy server refuses, and rate limits.',
      },
      commands: {
        title: 'Commands',
        description: 'Every command of the program with its options.',
      },
      settings: {
        title: 'Settings',
        description: 'Every flag and environment variable, and how to connect to PostgreSQL.',
      },
      limits: {
        title: 'Limits',
        description: 'Every limit of sizes, numbers and times.',
      },
      security: {
        title: 'Security',
        description: 'What an attacker can and cannot do, and how to report a problem.',
      },
      benchmarks: {
        title: 'Benchmarks',
        description: 'How fast caller-stats is, compared with simpler programs.',
      },
      figures: {
        title: 'All measurements',
        description: 'The ratios that the benchmarks measured, with their spreads.',
      },
      versioning: {
        title: 'Versions and compatibility',
        description:
          'What stays the same between versions, what is supported, and the docs of other versions.',
      },
      changelog: {
        title: 'Changes',
        description: 'What has changed in each version.',
      },
    },
  },
];

/** Every page by its name. */
export const PAGES: ReadonlyMap<string, Page> = new Map(GROUPS.flatMap(({ pages }) => Object.entries(pages)));
