# Sends an exception, a message and a session to each DSN of its standard input, as an application does.
require "json"
require "logger"
require "sentry-ruby"

def pick
  raise IndexError, "no apples left"
end

JSON.parse($stdin.read).each do |dsn|
  Sentry.init do |config|
    config.dsn = dsn
    config.release = "orchard@1.0"
    config.environment = "autumn"
    config.logger = Logger.new($stderr)
  end
  Sentry.with_session_tracking do
    pick
  rescue IndexError => error
    Sentry.capture_exception(error)
  end
  Sentry.capture_message("the harvest is late", level: :warning)
  Sentry.session_flusher.flush
  Sentry.background_worker.shutdown_timeout = 5
  Sentry.background_worker.shutdown
end
