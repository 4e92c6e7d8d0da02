;;; hermes.el --- hermes-acp in agent-shell  -*- lexical-binding: t; -*-

(require 'agent-shell)

(defun hermes-agent-shell ()
  "Start hermes-acp in an agent-shell buffer."
  (interactive)
  (agent-shell-start
   :config (agent-shell-make-agent-config
            :identifier 'hermes
            :mode-line-name "Hermes"
            :buffer-name "Hermes"
            :shell-prompt "Hermes> "
            :shell-prompt-regexp "Hermes> "
            :needs-authentication nil
            :client-maker (lambda (buffer)
                            (acp-make-client :command "hermes-acp"
                                             :context-buffer buffer)))))

(provide 'hermes)
;;; hermes.el ends here
