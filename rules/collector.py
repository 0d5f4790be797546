from .running import is_running as is_recording, running as paused_collector
